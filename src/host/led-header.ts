/**
 * Tells routes of this host which rules led to a request from inside of it, by a header whose name nobody else knows: a
 * client could otherwise claim what it likes.
 */
import { randomUUID } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { Causation } from '#kernel'

const NAME = `x-led-${randomUUID()}`

export function ledHeader({ hops, root }: Causation): Readonly<Record<string, string>> {
  return { [NAME]: JSON.stringify([hops, root]) }
}

/** Undefined for what came from outside, or by no rule. */
export function ledBy(headers: IncomingHttpHeaders): Causation | undefined {
  const text = headers[NAME]
  if (typeof text !== 'string') return undefined
  const [hops, root] = JSON.parse(text) as [number, string | null]
  return { hops, ...(root !== null && { root }) }
}
