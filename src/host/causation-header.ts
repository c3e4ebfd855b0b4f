/**
 * Passes the causation of an internal request to its route, in a header with a random name that clients cannot forge.
 */
import { randomUUID } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { Causation } from '#kernel'

const NAME = `x-causation-${randomUUID()}`

export function causationHeader({ hops, root }: Causation): Readonly<Record<string, string>> {
  return { [NAME]: JSON.stringify([hops, root]) }
}

export function causationIn(headers: IncomingHttpHeaders): Causation | undefined {
  const text = headers[NAME]
  if (typeof text !== 'string') return undefined
  const [hops, root] = JSON.parse(text) as [number, string | null]
  return { hops, ...(root !== null && { root }) }
}
