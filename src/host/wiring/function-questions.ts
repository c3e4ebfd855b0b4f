/** What functions of tenants may ask of this host while they are called. */
import { type AllowList, exchange, headersOf, type Transport } from '#plugins/spi'
import { AppError, isPlainObject } from '#kernel'

export interface WayOut {
  readonly transport: Transport
  readonly allowed: AllowList
}

const METHOD = /^[A-Z]{1,20}$/

/** `fetch`: calls a URL under the rules of callURL. Rejects with `PLUG_FAILED`. */
export async function answerFunction(
  { transport, allowed }: WayOut,
  question: string,
  params: unknown,
  signal: AbortSignal,
): Promise<unknown> {
  if (question !== 'fetch' || !isPlainObject(params)) throw refused('there is no such question to the host')
  const { url, method = 'GET', headers = {}, body } = params
  if (typeof url !== 'string') throw refused('fetch wants a url')
  if (typeof method !== 'string' || !METHOD.test(method)) throw refused('fetch wants a method such as GET')
  if (!isPlainObject(headers)) throw refused('headers are an object')
  if (body !== undefined && typeof body !== 'string') throw refused('a body is text')
  const {
    status,
    statusText,
    body: text,
  } = await exchange({ url, method, headers: headersOf(headers), body, signal }, transport, allowed)
  return { status, statusText, body: text }
}

function refused(why: string): AppError {
  return new AppError('PLUG_FAILED', why)
}
