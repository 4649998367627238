// Owns the embedded server of a folder until it is killed.
import { start } from "../../src/database/embedded.ts";

const [folder = ""] = process.argv.slice(2);
const { url, pid, how } = await start({ folder });
// It lives as long as the test that started it, or until that kills it.
process.on("disconnect", () => process.exit());
process.send?.({ url, pid, how });
