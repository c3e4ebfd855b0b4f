/** Implements clients of one connection each, over MQTT and WebSockets. */
import { generate, parser, type IPublishPacket, type Packet } from 'mqtt-packet'
import WebSocket from 'ws'
import type { HostLife } from './host-life.ts'
import { MQTT_PORT, network } from './network.ts'

/** A client's end of a connection. */
export interface Client {
  /** resolves to whether the host accepted the connection */
  readonly opened: Promise<boolean>
  /** resolves when either side ends the connection, but not when the host dies */
  readonly over: Promise<void>
  leave(): void
}

export interface SocketClient extends Client {
  send(text: string): void
}

/** `heard` undefined: the client never reads. */
export function openSocket(
  life: HostLife,
  { url, tenant }: { readonly url: string; readonly tenant: string },
  heard?: (text: string) => void,
): SocketClient {
  const { host, client, leave } = network.open()
  const socket = new WebSocket(null as never, undefined, {})
  const over = new Promise<void>((resolve) => void client.once('close', () => resolve()))
  const opened = new Promise<boolean>((resolve) => {
    client.once('close', () => resolve(false))
    client.once('data', (head: Buffer) => {
      const [, status] = head.toString().split(' ', 2)
      if (status === '404') throw new Error(`no service of this run says in \`asks\` that it asks GET ${url}`)
      const isOpen = status === '101'
      if (!isOpen) leave()
      else if (heard === undefined) client.pause()
      else attach(socket, client, heard)
      resolve(isOpen)
    })
  })
  life.upgrade({ method: 'GET', url, tenant }, host)
  return {
    opened,
    over,
    leave,
    send: (text) => {
      if (socket.readyState === WebSocket.OPEN) socket.send(text)
    },
  }
}

function attach(socket: WebSocket, client: unknown, heard: (text: string) => void): void {
  socket.on('error', () => undefined)
  socket.on('message', (data) => heard((data as Buffer).toString()))
  // what the package does when a server has accepted it
  const opening = socket as unknown as { setSocket(stream: unknown, head: Buffer, options: object): void }
  opening.setSocket(client, Buffer.alloc(0), { maxPayload: 0, allowSynchronousEvents: true })
}

export interface MqttClient extends Client {
  send(packet: Packet): void
}

/** Connects with version 5, without a session. `heard` undefined: reads only the acceptance. */
export function openMqtt(tenant: string, heard?: (packet: Packet) => void): MqttClient | undefined {
  const connection = network.connect(MQTT_PORT)
  if (connection === undefined) return undefined
  const { client, leave } = connection
  const packets = parser({ protocolVersion: 5 })
  const over = new Promise<void>((resolve) => void client.once('close', () => resolve()))
  const opened = new Promise<boolean>((resolve) => {
    client.once('close', () => resolve(false))
    packets.on('packet', (packet) => {
      if (packet.cmd === 'connack') {
        resolve(packet.reasonCode === 0)
        if (heard === undefined) client.pause()
      } else heard?.(packet)
    })
  })
  client.on('data', (bytes: Buffer) => void packets.parse(bytes))
  client.on('end', leave)
  const send = (packet: Packet): void => {
    if (!client.destroyed) client.write(generate(packet, { protocolVersion: 5 }))
  }
  send({
    cmd: 'connect',
    protocolId: 'MQTT',
    protocolVersion: 5,
    clean: true,
    clientId: '',
    keepalive: 0,
    username: tenant,
    password: Buffer.from('secret'),
  })
  return { opened, over, leave, send }
}

export function publishing(topic: string, body: object, qos: 0 | 1 | 2, messageId: number): IPublishPacket {
  const payload = Buffer.from(JSON.stringify(body))
  return { cmd: 'publish', topic, payload, qos, dup: false, retain: false, ...(qos > 0 && { messageId }) }
}
