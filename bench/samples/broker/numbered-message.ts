/** Messages that are known again: by their temperature, and by a header that also says when they were sent. */
import { bodyOf } from './bodies.ts'
import { machineMs } from './machine-clock.ts'
import { postRequest } from './post-request.ts'

/** all temperatures have the same number of digits */
const FIRST = 10_000_000
const HEADER = 'x-message'

/** Its temperature is above any limit. */
export function numberedRequest(port: number, device: number, n: number): string {
  const body = bodyOf(device, 1).replace(/"temperature":[\d.]+/, `"temperature":${FIRST + n}`)
  return postRequest({ port, device, body, head: [`${HEADER}: ${n} ${machineMs()}`] })
}

/** Undefined for the temperature of any other message. */
export function numberOf(temperature: unknown): number | undefined {
  return typeof temperature === 'number' && temperature >= FIRST ? temperature - FIRST : undefined
}

/** `sent`: ms of the machine's clock. Undefined for any other message. */
export function headerOf(
  headers: Readonly<Record<string, unknown>>,
): { readonly n: number; readonly sent: number } | undefined {
  const given = headers[HEADER]
  if (typeof given !== 'string') return undefined
  const [n = Number.NaN, sent = Number.NaN] = given.split(' ').map(Number)
  return { n, sent }
}
