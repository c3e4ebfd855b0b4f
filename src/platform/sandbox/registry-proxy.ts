/**
 * Connects package installers to the network through an HTTP proxy on a Unix socket. The proxy reaches only allowed
 * hosts.
 *
 * REGPROXY-1 connections are opened only to allowed hosts and ports
 */
import { createServer, request as ask, type IncomingMessage, type ServerResponse } from 'node:http'
import { request as askSafely } from 'node:https'
import { connect } from 'node:net'
import type { Duplex } from 'node:stream'

export interface ProxyOptions {
  readonly socket: string
  /** Allowed hosts with ports, such as `registry.npmjs.org:443` */
  readonly allowed: ReadonlySet<string>
  /** Returns the operator's proxy for a host; undefined: connect directly */
  readonly upstream?: (host: string) => URL | undefined
}

export interface RegistryProxy {
  readonly refused: ReadonlySet<string>
  close(): Promise<void>
}

const MAX_CONNECTIONS = 64
const MAX_REFUSED = 20
const DEFAULT_PORTS: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443' }

export async function openRegistryProxy(options: ProxyOptions): Promise<RegistryProxy> {
  const { socket, allowed } = options
  const refused = new Set<string>()
  const open = new Set<Duplex>()
  const isRefused = (origin: string): boolean => {
    if (allowed.has(origin)) return false
    if (refused.size < MAX_REFUSED) refused.add(origin.slice(0, 300))
    return true
  }
  const server = createServer((request, response) => pass(request, response, isRefused))
  server.maxConnections = MAX_CONNECTIONS
  server.on('connection', (client) => keep(open, client))
  server.on('connect', (request: IncomingMessage, client: Duplex, head: Buffer) => {
    const origin = (request.url ?? '').toLowerCase()
    client.on('error', () => client.destroy())
    if (isRefused(origin))
      return void client.end(`HTTP/1.1 403 Forbidden\r\nConnection: close\r\n\r\n${notAllowed(origin)}`)
    tunnel(origin, options.upstream).then(
      (far) => {
        keep(open, far)
        client.write('HTTP/1.1 200 Connection established\r\n\r\n')
        if (head.length > 0) far.write(head)
        far.pipe(client).pipe(far)
        far.on('close', () => client.destroy())
        client.on('close', () => far.destroy())
      },
      (error: unknown) => client.end(`HTTP/1.1 502 Bad Gateway\r\nConnection: close\r\n\r\n${String(error)}\n`),
    )
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(socket, resolve)
  })
  return {
    refused,
    close: async () => {
      for (const one of open) one.destroy()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}

function keep(open: Set<Duplex>, one: Duplex): void {
  open.add(one)
  one.on('error', () => one.destroy())
  one.on('close', () => open.delete(one))
}

function notAllowed(origin: string): string {
  return `${origin} is not an allowed registry of this host\n`
}

function pass(request: IncomingMessage, response: ServerResponse, isRefused: (origin: string) => boolean): void {
  const { url = '', method, headers } = request
  const target = URL.canParse(url) ? new URL(url) : undefined
  const origin = target?.protocol === 'http:' ? originOf(target) : url.slice(0, 300)
  if (target === undefined || isRefused(origin)) return void response.writeHead(403).end(notAllowed(origin))
  const { 'proxy-connection': _hop, 'proxy-authorization': _own, ...rest } = headers
  const far = ask(target, { method, headers: { ...rest, connection: 'close' } }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers)
    answer.pipe(response)
  })
  far.on('error', (error) => {
    if (response.headersSent) response.destroy()
    else response.writeHead(502).end(`${error.message}\n`)
  })
  response.on('close', () => far.destroy())
  request.pipe(far)
}

export function originOf({ protocol, hostname, port }: URL): string {
  return `${hostname}:${port === '' ? (DEFAULT_PORTS[protocol] ?? '') : port}`
}

function tunnel(origin: string, upstream: ProxyOptions['upstream']): Promise<Duplex> {
  const at = origin.lastIndexOf(':')
  const [host, port] = [origin.slice(0, at).replace(/^\[(.*)\]$/, '$1'), Number(origin.slice(at + 1))]
  const proxy = upstream?.(host)
  return new Promise((resolve, reject) => {
    if (proxy === undefined) {
      const far = connect({ host, port }, () => resolve(far))
      return void far.once('error', reject)
    }
    const { username, password } = proxy
    const userInfo = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
    const headers = {
      host: origin,
      ...(username !== '' && { 'proxy-authorization': `Basic ${Buffer.from(userInfo).toString('base64')}` }),
    }
    const send = proxy.protocol === 'https:' ? askSafely : ask
    const request = send({
      host: proxy.hostname,
      port: originOf(proxy).split(':').at(-1),
      method: 'CONNECT',
      path: origin,
      headers,
    })
    request.on('connect', ({ statusCode }, far) => {
      if (statusCode === 200) resolve(far)
      else {
        far.destroy()
        reject(new Error(`the proxy of the host returned ${statusCode} for ${origin}`))
      }
    })
    request.on('response', ({ statusCode }) =>
      reject(new Error(`the proxy of the host returned ${statusCode} for ${origin}`)),
    )
    request.on('error', reject)
    request.end()
  })
}
