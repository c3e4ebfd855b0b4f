/** Binds the address that a host listens on. */
import { createServer, type AddressInfo } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { Server as TlsServer } from 'node:tls'
import { AppError, messageOf } from '#kernel'
import type { Config } from './config.ts'

export interface Address {
  readonly host: string
  readonly port: number
}

/** Binds and releases the address, before anything is written. Throws `LISTEN`. */
export async function tryAddress({ host, port }: Address): Promise<void> {
  const server = createServer()
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen({ host, port, exclusive: true }, resolve)
    })
    await new Promise((resolve) => server.close(resolve))
  } catch (error) {
    throw cannotListen({ host, port }, error)
  }
}

export async function listen(app: FastifyInstance, address: Address): Promise<string> {
  try {
    await app.listen(address)
  } catch (error) {
    throw cannotListen(address, error)
  }
  const { port } = app.server.address() as AddressInfo
  return `${app.server instanceof TlsServer ? 'https' : 'http'}://${named(address.host)}:${port}`
}

function named(host: string): string {
  if (host === '0.0.0.0' || host === '::') return 'localhost'
  return host.includes(':') ? `[${host}]` : host
}

const REASONS: ReadonlyMap<string, string> = new Map([
  ['EADDRINUSE', 'the port is in use; choose another --port, or 0 for any free port'],
  ['EACCES', 'this user may not listen on this port; choose a --port from 1024'],
  ['EADDRNOTAVAIL', 'this machine does not have that address; choose another --host'],
  ['ENOTFOUND', 'the name is unknown; choose another --host'],
])

function cannotListen({ host, port }: Address, cause: unknown): AppError {
  const reason = REASONS.get((cause as NodeJS.ErrnoException).code ?? '') ?? messageOf(cause)
  return new AppError('LISTEN', `Cannot listen on ${host}:${port}: ${reason}`, { cause })
}

/** Returns the base of links for work that no request began. */
export function listeningAt({ host, port, tls }: Pick<Config, 'host' | 'port' | 'tls'>, app?: FastifyInstance): string {
  const bound = app?.server.address()
  const boundPort = typeof bound === 'object' && bound !== null ? bound.port : port
  const name = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host
  return `${tls === undefined ? 'http' : 'https'}://${name.includes(':') ? `[${name}]` : name}:${boundPort}${app?.prefix ?? ''}`
}
