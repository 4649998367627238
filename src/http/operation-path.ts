import type { FastifyRequest } from "fastify";
import { type OperationId, operationId } from "../core/ids.ts";
import { EmptyBody } from "../wire.ts";

/** Throws `not_found` for what is no id. */
export function idOf({ id }: { readonly id: string }): OperationId {
  return operationId(id);
}

/** No body and an empty object say the same to a route that takes nothing. */
export const EMPTY_BODY = EmptyBody;

/** Runs before validation. */
export async function noBody(request: FastifyRequest): Promise<void> {
  request.body ??= {};
}
