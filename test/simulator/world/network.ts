/**
 * The network of the simulated machine: connections over streams in memory. A port of a host is a server that is no
 * socket of the system; a client that goes away is gone for the host at once.
 */
import { EventEmitter } from 'node:events'
import net from 'node:net'
import { syncBuiltinESMExports } from 'node:module'
import { duplexPair, type Duplex } from 'node:stream'

export const MQTT_PORT = 1883
/** Bytes that wait at each end before its writer has to. */
const ROOM = 16_384

/** One end for the host, one for the client. */
export interface Connection {
  readonly host: Duplex
  readonly client: Duplex
  /** The client is gone. */
  leave(): void
}

function newConnection(): Connection {
  const [host, client] = duplexPair({ highWaterMark: ROOM })
  // what a socket has besides
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

/** Stands in for a server of `node:net`. */
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
  /** all that somebody may still hold */
  readonly #connections = new Set<Connection>()

  /** From now on servers are made here. */
  install(): void {
    Object.defineProperty(net, 'createServer', {
      value: (welcome: (socket: Duplex) => void) => new SimulatedServer(this, welcome),
      configurable: true,
      writable: true,
    })
    syncBuiltinESMExports()
  }

  /** The machine died. */
  forget(): void {
    this.ports.clear()
  }

  /** The run is over: no connection is left, of machines that died neither. Node would keep them, with all that they reach. */
  end(): void {
    for (const { leave } of this.#connections) leave()
    this.#connections.clear()
  }

  /** To whoever takes its other end. */
  open(): Connection {
    const connection = newConnection()
    this.#connections.add(connection)
    connection.host.once('close', () => this.#connections.delete(connection))
    return connection
  }

  /** Undefined: nobody listens there. */
  connect(port: number): Connection | undefined {
    const server = this.ports.get(port)
    if (server === undefined) return undefined
    const connection = this.open()
    server.take(connection.host)
    return connection
  }
}

/** Of this process, as there is one machine in it. */
export const network = new Network()
