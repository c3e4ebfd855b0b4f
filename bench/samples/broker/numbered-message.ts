/** Messages identified by their temperature, and by a header with their send time. */
import { bodyOf } from './bodies.ts'
import { machineMs } from './machine-clock.ts'
import { postRequest } from './post-request.ts'

/** all temperatures have the same number of digits */
const FIRST = 10_000_000
const HEADER = 'x-message'

export function numberedRequest(port: number, device: number, n: number): string {
  const body = bodyOf(device, 1).replace(/"temperature":[\d.]+/, `"temperature":${FIRST + n}`)
  return postRequest({ port, device, body, head: [`${HEADER}: ${n} ${machineMs()}`] })
}

export function numberOf(temperature: unknown): number | undefined {
  return typeof temperature === 'number' && temperature >= FIRST ? temperature - FIRST : undefined
}

/** `sent`: ms of the machine's clock. Undefined for other messages. */
export function headerOf(
  headers: Readonly<Record<string, unknown>>,
): { readonly n: number; readonly sent: number } | undefined {
  const header = headers[HEADER]
  if (typeof header !== 'string') return undefined
  const [n = Number.NaN, sent = Number.NaN] = header.split(' ').map(Number)
  return { n, sent }
}
