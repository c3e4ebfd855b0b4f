/**
 * Connections of tenants at other hosts: their bytes are forwarded to the listener of that host, both ways, until one
 * side ends. So all connections of a tenant are at one host, which knows their client ids.
 */
import { connect, type Socket } from 'node:net'

/** A forwarded connection. */
export interface Origin {
  /** of the client */
  readonly address: string
  /** hosts that forwarded it */
  readonly hops: number
  /** of the tenant's slot, as the forwarding host knows it */
  readonly term: number
}

/** The listener with the connections of a tenant. */
export interface OtherListener {
  readonly host: string
  readonly port: number
  /** the line before the client's bytes, which differs from any CONNECT */
  readonly introduction: string
  /** aborts when the host is gone */
  readonly gone: AbortSignal
}

export interface OtherHosts {
  /** Undefined: the tenant is open here. `FENCED` when it is not at any host. */
  find(tenant: string, origin: Origin): Promise<OtherListener | undefined>
  /** Reads the line of another host; undefined when it is invalid or expired. */
  read(introduction: string): Origin | undefined
  /** `onTenant` is called with tenants that leave this host. */
  onLeave(onTenant: (tenant: string) => void): void
}

/** First byte of an introduction; a CONNECT begins otherwise. */
export const INTRODUCTION = 'R'
export const MAX_LINE = 512
const CONNECT_MS = 2_000

/** `received`: bytes of the client so far. Destroys the socket when the other side ends or cannot be reached. */
export function handOver(socket: Socket, { host, port, introduction, gone }: OtherListener, received: Buffer): void {
  const upstream = connect({ host, port, noDelay: true })
  const cut = (): void => void upstream.destroy()
  upstream.setTimeout(CONNECT_MS, cut)
  upstream.once('connect', () => upstream.setTimeout(0))
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
