/**
 * Simulates the network with in-memory streams. Host ports are servers without system sockets, and a host notices at
 * once when a client leaves.
 */
import { EventEmitter } from 'node:events'
import net from 'node:net'
import { syncBuiltinESMExports } from 'node:module'
import { duplexPair, type Duplex } from 'node:stream'

export const MQTT_PORT = 1883
/** Bytes that each end buffers before its writer must wait. */
const ROOM = 16_384

/** A connection with an end for the host and one for the client. */
export interface Connection {
  readonly host: Duplex
  readonly client: Duplex
  /** Disconnects the client. */
  leave(): void
}

function newConnection(): Connection {
  const [host, client] = duplexPair({ highWaterMark: ROOM })
  // other members that a socket has
  Object.assign(host, { setNoDelay: () => host, destroySoon: () => host.end(), remoteAddress: '192.0.2.1' })
  client.on('error', () => undefined)
  host.once('close', () => void client.destroy())
  return {
    host,
    client,
    leave: () => {
      client.destroy()
      host.destroy()
    },
  }
}

/** Replaces a server of `node:net`. */
class SimulatedServer extends EventEmitter {
  readonly #network: Network
  readonly #welcome: (socket: Duplex) => void
  readonly #open = new Set<Duplex>()
  #port = 0
  #isClosed = false

  constructor(network: Network, welcome: (socket: Duplex) => void) {
    super()
    this.#network = network
    this.#welcome = welcome
  }

  address(): { readonly port: number } {
    return { port: this.#port }
  }

  listen(port: number, _host: string, listening: () => void): this {
    this.#port = port
    this.#network.ports.set(port, this)
    setImmediate(listening)
    return this
  }

  close(closed: () => void): this {
    this.#isClosed = true
    if (this.#network.ports.get(this.#port) === this) this.#network.ports.delete(this.#port)
    this.once('closed', closed)
    this.#tidy()
    return this
  }

  take(socket: Duplex): void {
    this.#open.add(socket)
    socket.once('close', () => {
      this.#open.delete(socket)
      this.#tidy()
    })
    this.#welcome(socket)
  }

  #tidy(): void {
    if (this.#isClosed && this.#open.size === 0) setImmediate(() => this.emit('closed'))
  }
}

export class Network {
  readonly ports = new Map<number, SimulatedServer>()
  /** all connections that may still be referenced */
  readonly #connections = new Set<Connection>()

  /** Makes `node:net` create simulated servers. */
  install(): void {
    Object.defineProperty(net, 'createServer', {
      value: (welcome: (socket: Duplex) => void) => new SimulatedServer(this, welcome),
      configurable: true,
      writable: true,
    })
    syncBuiltinESMExports()
  }

  /** Called when the machine dies. */
  forget(): void {
    this.ports.clear()
  }

  /**
   * Closes all connections at the end of a run, including those of dead machines, because Node would keep them alive.
   */
  end(): void {
    for (const { leave } of this.#connections) leave()
    this.#connections.clear()
  }

  /** Opens a connection; the caller uses the client's end. */
  open(): Connection {
    const connection = newConnection()
    this.#connections.add(connection)
    connection.host.once('close', () => this.#connections.delete(connection))
    return connection
  }

  /** Returns undefined when nothing listens on the port. */
  connect(port: number): Connection | undefined {
    const server = this.ports.get(port)
    if (server === undefined) return undefined
    const connection = this.open()
    server.take(connection.host)
    return connection
  }
}

/** The network of this process, which simulates only one machine. */
export const network = new Network()
