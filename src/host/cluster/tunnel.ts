/**
 * Forwards an upgrade request, for example for a WebSocket, to the tenant's owner, and pipes bytes in both directions
 * until one side ends.
 */
import { request as askPlain, type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import { request as askSecurely } from 'node:https'
import type { Duplex } from 'node:stream'
import type { FastifyReply } from 'fastify'

const OF_THE_CONNECTION: ReadonlySet<string> = new Set(['connection', 'keep-alive', 'transfer-encoding', 'upgrade'])

/** `failed`: called when the other host is unreachable. Returns a function that cuts the tunnel. */
export function openTunnel(
  target: URL,
  headers: IncomingHttpHeaders,
  reply: FastifyReply,
  failed: () => void,
): () => void {
  const { socket } = reply.request.raw
  const ask = target.protocol === 'https:' ? askSecurely : askPlain
  const asking = ask(target, { headers: { host: target.host, ...headers }, agent: false })
  let upstream: Duplex | undefined
  const cut = (): void => void (upstream ?? asking).destroy()
  socket.once('close', cut)
  asking.on('upgrade', (answer, other: Duplex, head) => {
    upstream = other
    reply.hijack()
    socket.write(headOf(answer))
    if (head.length > 0) socket.write(head)
    // ignored, since `close` follows
    other.on('error', () => undefined)
    other.once('close', () => socket.destroySoon())
    other.pipe(socket)
    socket.pipe(other)
  })
  asking.on('response', (answer) => {
    for (const [name, value] of Object.entries(answer.headers)) {
      if (value !== undefined && !OF_THE_CONNECTION.has(name)) reply.header(name, value)
    }
    void reply.code(answer.statusCode ?? 502).send(answer)
  })
  asking.on('error', () => {
    if (!reply.sent && !socket.destroyed) failed()
  })
  asking.end()
  return cut
}

function headOf({ statusCode, statusMessage = '', rawHeaders }: IncomingMessage): string {
  const lines = [`HTTP/1.1 ${statusCode ?? 101} ${statusMessage}`]
  for (let at = 0; at < rawHeaders.length; at += 2) lines.push(`${rawHeaders[at] ?? ''}: ${rawHeaders[at + 1] ?? ''}`)
  return `${lines.join('\r\n')}\r\n\r\n`
}
