import { expect, test } from "vitest";
import { configurationPage } from "../../src/config/page.ts";

test("docs/configuration.md is made from the table", async () => {
  await expect(configurationPage()).toMatchFileSnapshot("../../docs/configuration.md");
});
