/**
 * Connections of tenants that another host has: once it is known whose a connection is, its bytes go through to the
 * listener of that host, both ways, until one side ends. So all connections of a tenant are at one host, which knows
 * their client ids.
 */
import { connect, type Socket } from 'node:net'

/** A connection, as the host that has its tenant is told of it. */
export interface Origin {
  /** of the client */
  readonly address: string
  /** how often it was handed on */
  readonly hops: number
  /** of the tenant's slot, as far as the host knows that handed it on */
  readonly term: number
}

/** Where the connections of a tenant are taken. */
export interface OtherListener {
  readonly host: string
  readonly port: number
  /** the line that comes before the client's bytes; it begins as no CONNECT does */
  readonly introduction: string
  /** that host is gone: nothing more comes from there */
  readonly gone: AbortSignal
}

export interface OtherHosts {
  /** Undefined: it is taken here, and what it needs is open. `FENCED` when the tenant is nowhere. */
  find(tenant: string, origin: Origin): Promise<OtherListener | undefined>
  /** What the line of another host says; undefined when none of the hosts wrote it just now. */
  read(introduction: string): Origin | undefined
  /** `hear` is told of tenants that this host has no more. */
  onLeave(hear: (tenant: string) => void): void
}

/** First byte of an introduction: no CONNECT begins so. */
export const INTRODUCTION = 'R'
export const MAX_LINE = 512
const CONNECT_MS = 2_000

/** `received`: what the client has sent so far. The socket is destroyed when the other side cannot be reached, or ends. */
export function handOver(socket: Socket, { host, port, introduction, gone }: OtherListener, received: Buffer): void {
  const upstream = connect({ host, port, noDelay: true })
  const cut = (): void => void upstream.destroy()
  upstream.setTimeout(CONNECT_MS, cut)
  upstream.once('connect', () => upstream.setTimeout(0))
  // its `close` follows
  upstream.on('error', () => undefined)
  upstream.once('close', () => {
    gone.removeEventListener('abort', cut)
    socket.destroySoon()
  })
  socket.once('close', cut)
  gone.addEventListener('abort', cut, { once: true })
  upstream.write(`${introduction}\n`)
  upstream.write(received)
  upstream.pipe(socket)
  socket.pipe(upstream)
  if (gone.aborted || socket.destroyed) cut()
}
