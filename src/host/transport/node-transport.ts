/**
 * Sends the requests of callURL on Node. Resolves names with the system's resolver, connects exactly to the checked
 * address, and rejects non-public addresses itself, so that it is safe without callURL too. Keeps no connections or
 * cookies, follows no redirects, and uses no proxy.
 */
import { lookup } from 'node:dns/promises'
import { request as requestHttp, type IncomingMessage, type RequestOptions } from 'node:http'
import { request as requestHttps } from 'node:https'
import { isIP } from 'node:net'
import { type OutboundRequest, type OutboundResponse, type Transport } from '#plugins/spi'
import { AllowList, AppError } from '#kernel'

export interface NodeTransportOptions {
  /** Private names, addresses and networks that may be called: `localhost`, `intranet.local:8080`, `10.0.0.0/8` */
  readonly allow?: readonly string[]
  /** Returns the IP addresses of a host name; default: the system's resolver, which also reads the hosts file */
  readonly resolve?: (host: string) => Promise<readonly string[]>
}

/** Throws `USAGE`; `send` rejects with `PLUG_FAILED`. */
export function nodeTransport({ allow = [], resolve = resolveBySystem }: NodeTransportOptions = {}): Transport {
  const allowed = new AllowList(allow)
  return {
    allow,
    resolve,
    async send(outbound) {
      const url = new URL(outbound.url)
      const host = url.hostname.replace(/^\[|\]$/g, '')
      if (isIP(host) !== 0 && host !== outbound.address) throw failed(`${host} is not the address that was checked`)
      const refusal = allowed.refusal(url, outbound.address)
      if (refusal !== undefined) throw failed(refusal)
      return exchange(url, host, outbound)
    },
  }
}

async function resolveBySystem(host: string): Promise<readonly string[]> {
  const found = await lookup(host, { all: true, order: 'ipv4first' })
  return found.map(({ address }) => address)
}

function exchange(url: URL, host: string, outbound: OutboundRequest): Promise<OutboundResponse> {
  const { address, method, headers, body, timeoutMs, maxBytes } = outbound
  // one deadline for the whole answer, so that a slow trickle of bytes cannot extend it
  const signal = AbortSignal.any([outbound.signal, AbortSignal.timeout(timeoutMs)])
  const options: RequestOptions = {
    host,
    ...(url.port !== '' && { port: url.port }),
    path: `${url.pathname}${url.search}`,
    method,
    headers: { ...headers, 'Accept-Encoding': 'identity', ...lengthOf(method, body) },
    // a pooled connection may lead to an address that was checked for another name
    agent: false,
    lookup: pinned(address),
    signal,
  }
  return new Promise((resolve, reject) => {
    const failWith = (error: unknown) => reject(reasonOf(error, signal))
    const sent = (url.protocol === 'https:' ? requestHttps : requestHttp)(options)
    sent.on('error', failWith)
    sent.on('upgrade', (_, socket) => {
      socket.destroy()
      reject(failed('the server switched protocols'))
    })
    sent.on('response', (response) => {
      readAll(response, maxBytes).then((text) => resolve(responseOf(response, text)), failWith)
    })
    sent.end(body)
  })
}

function lengthOf(method: string, body: string | undefined): Record<string, string> {
  if (body !== undefined) return { 'Content-Length': String(Buffer.byteLength(body)) }
  return method === 'GET' || method === 'HEAD' ? {} : { 'Content-Length': '0' }
}

function pinned(address: string): NonNullable<RequestOptions['lookup']> {
  const family = isIP(address)
  return (_, { all }, done) => {
    if (all === true) done(null, [{ address, family }])
    else done(null, address, family)
  }
}

async function readAll(response: IncomingMessage, maxBytes: number): Promise<string> {
  const encoding = response.headers['content-encoding'] ?? 'identity'
  if (encoding !== 'identity') {
    response.destroy()
    throw failed('the response is compressed, which was not requested')
  }
  const chunks: Buffer[] = []
  let size = Number(response.headers['content-length'] ?? 0) > maxBytes ? Number.POSITIVE_INFINITY : 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > maxBytes) {
      response.destroy()
      throw failed(`the response is longer than ${maxBytes} bytes`)
    }
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function responseOf({ statusCode = 0, statusMessage = '', headers }: IncomingMessage, body: string): OutboundResponse {
  const { location, 'retry-after': retryAfter } = headers
  return {
    status: statusCode,
    statusText: statusMessage,
    ...(location !== undefined && { location }),
    ...(retryAfter !== undefined && { retryAfter }),
    body,
  }
}

function reasonOf(error: unknown, signal: AbortSignal): Error {
  if (error instanceof AppError) return error
  const reason: unknown = signal.aborted ? signal.reason : error
  const name = reason instanceof Error ? reason.name : 'Error'
  const code = reason instanceof Error && 'code' in reason && typeof reason.code === 'string' ? ` ${reason.code}` : ''
  return new AppError('PLUG_FAILED', `the call failed: ${name}${code}`, { cause: reason })
}

function failed(message: string): AppError {
  return new AppError('PLUG_FAILED', message)
}
