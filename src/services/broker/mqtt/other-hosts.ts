/** Forwards connections of tenants at other hosts, so that one host knows all client ids of a tenant. */
import { connect, type Socket } from 'node:net'

export interface Origin {
  readonly address: string
  /** number of hosts that forwarded the connection */
  readonly hops: number
  /** term of the tenant's slot, as known to the forwarding host */
  readonly term: number
}

export interface OtherListener {
  readonly host: string
  readonly port: number
  /** the line to send before the client's bytes; it cannot be mistaken for a CONNECT */
  readonly introduction: string
  /** aborts when the host has stopped */
  readonly gone: AbortSignal
}

export interface OtherHosts {
  /** undefined: the tenant is open here. Rejects with `FENCED` when the tenant has no host. */
  find(tenant: string, origin: Origin): Promise<OtherListener | undefined>
  /** Parses the introduction line from another host; returns undefined if the line is invalid or expired. */
  read(introduction: string): Origin | undefined
  onLeave(onTenant: (tenant: string) => void): void
}

/** First byte of an introduction. No CONNECT begins with it. */
export const INTRODUCTION = 'R'
export const MAX_LINE = 512
const CONNECT_MS = 2_000

/** Destroys the socket when the other side ends or cannot be reached. */
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
