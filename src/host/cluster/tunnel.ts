/**
 * A request for an upgrade, such as one for a WebSocket, at a host that has not its tenant: it is asked of the host that
 * has it, and when that agrees, bytes go through both ways until one side ends.
 */
import { request as askPlain, type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import { request as askSecurely } from 'node:https'
import type { Duplex } from 'node:stream'
import type { FastifyReply } from 'fastify'

/** They are about one connection, or told anew. */
const OF_THE_CONNECTION: ReadonlySet<string> = new Set(['connection', 'keep-alive', 'transfer-encoding', 'upgrade'])

/** `failed`: the other host could not be asked. Gives what cuts it off, at any time. */
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
  // whoever asked is gone, and then nobody needs an answer
  socket.once('close', cut)
  asking.on('upgrade', (answer, other: Duplex, head) => {
    upstream = other
    reply.hijack()
    socket.write(headOf(answer))
    if (head.length > 0) socket.write(head)
    // its `close` follows
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
