/** What the address of a webscript has in place of its tenant and its name. */
import { createHash } from 'node:crypto'

/** 32 hex digits: the same for all versions, on every host. */
export function webscriptId(tenant: string, name: string): string {
  return createHash('sha256')
    .update(JSON.stringify([tenant, name]))
    .digest('hex')
    .slice(0, 32)
}
