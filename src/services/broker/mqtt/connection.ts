/** The connection of one client. Processes its packets in order. */
import type { Socket } from 'node:net'
import { parser as createParser, type IConnectPacket, type IPublishPacket, type Packet } from 'mqtt-packet'
import { AppError, type Caller, hasScope, messageOf, requireScope } from '#kernel'
import { bodyText, parseMessages } from '#services/shared'
import type { MqttBrokerApi } from '../contract.ts'
import { MAX_EXPIRY } from '../kept/device-sessions.ts'
import { handOver, INTRODUCTION, MAX_LINE, type Origin } from './other-hosts.ts'
import { packetFault, type PacketFault } from './packet-faults.ts'
import { PacketFrames } from './packet-frames.ts'
import { PacketWriter } from './packet-writer.ts'
import { REASONS, refusalReason, returnCode, type Reason } from './reasons.ts'
import { type KeptSession, Subscriptions } from './subscriptions.ts'
import type { ConnectionContext } from './connection-context.ts'
import { publishTopic, type PublishTopic, scopeOfPublish } from './topics.ts'

/** ms within which the first packet must arrive */
const INTRODUCTION_MS = 10_000
/** maximum bytes of the first packet, whose sender is not authenticated yet */
const MAX_INTRODUCTION = 131_072
const MAX_SHOWN = 200

interface Will {
  readonly topic: PublishTopic
  readonly payload: Buffer
  readonly retain: boolean
  /** ms */
  readonly delay: number
}

interface Known {
  readonly caller: Caller
  readonly api: MqttBrokerApi
  readonly clientId: string
  readonly subscriptions: Subscriptions
  /** undefined: the session ends with the connection */
  readonly kept: KeptSession | undefined
}

export class Connection {
  readonly #socket: Socket
  readonly #listener: ConnectionContext
  readonly #frames: PacketFrames
  readonly #parser = createParser()
  readonly #writer: PacketWriter
  #known: Known | undefined
  #will: Will | undefined
  #forget: (() => void) | undefined
  #introduced = false
  /** bytes received before the tenant is known, to forward if the tenant is at another host */
  #received: Buffer[] | undefined
  /** set if another host forwarded the connection */
  #origin: Origin | undefined
  /** packets received before the client is authenticated */
  readonly #early: Packet[] = []
  /** ids of QoS 2 messages that are accepted and not released yet */
  #taken = new Set<number>()
  #inFlight = 0
  /** messages of QoS 1 and 2 whose exchange of acknowledgements is not complete */
  #unacknowledged = 0
  #last: Promise<void> = Promise.resolve()
  #cancelTimer: () => void
  #silenceMs = 0
  #isOver = false
  #isShutDown = false
  #hasLeft = false
  #name: Pick<Known, 'caller' | 'clientId'> | undefined
  /** seconds for which the client wants its session kept, if it stated so at the end */
  #expiry: number | undefined

  constructor(socket: Socket, listener: ConnectionContext) {
    this.#socket = socket
    this.#listener = listener
    this.#writer = new PacketWriter(socket)
    if (listener.options.others !== undefined) this.#received = []
    this.#frames = new PacketFrames(Math.min(MAX_INTRODUCTION, listener.limits.packetBytes))
    this.#cancelTimer = listener.after(INTRODUCTION_MS, () => void this.end(REASONS.keepAlive))
    socket.setNoDelay(true)
    this.#parser.on('packet', (packet) => this.#take(packet))
    this.#parser.on('error', (error) => this.#fault({ reason: REASONS.malformed, text: messageOf(error) }))
    socket.on('data', (bytes: Buffer) => this.#read(bytes))
    socket.on('error', () => undefined)
    socket.on('close', () => this.#leave())
  }

  /** Resolves when accepted messages are durable. */
  async end(reason: Reason): Promise<void> {
    if (!this.#isOver) {
      this.#isShutDown = reason === REASONS.shuttingDown
      // the broker ends the connection, so the will is not published
      if (reason === REASONS.shuttingDown || reason === REASONS.notAuthorized) this.#will = undefined
      if (this.#known !== undefined && this.#writer.version === 5) {
        this.#writer.send({ cmd: 'disconnect', reasonCode: reason })
      }
      this.#over()
    }
    await this.#last
  }

  #read(bytes: Buffer): void {
    // drop later bytes, so that they do not accumulate
    if (this.#isOver) return
    this.#listenOn()
    const packets = this.#received === undefined ? bytes : this.#withoutIntroduction(this.#received, bytes)
    if (packets === undefined) return
    this.#frames.add(packets)
    for (let packet = this.#frames.next(); packet !== undefined; packet = this.#frames.next()) {
      const fault =
        typeof packet === 'string'
          ? {
              reason: REASONS[packet],
              text: packet === 'tooLarge' ? 'a packet that is too large' : 'an invalid packet',
            }
          : packetFault(packet, this.#writer.version)
      if (fault !== undefined) return this.#fault(fault)
      if (typeof packet !== 'string') this.#parser.parse(packet)
      if (this.#isOver) return
    }
  }

  #withoutIntroduction(received: Buffer[], bytes: Buffer): Buffer | undefined {
    received.push(bytes)
    if (this.#introduced || this.#origin !== undefined) return bytes
    const all = Buffer.concat(received)
    if (all[0] !== INTRODUCTION.charCodeAt(0)) return bytes
    const end = all.indexOf('\n')
    if (end < 0 && all.length <= MAX_LINE) return undefined
    this.#origin = end < 0 ? undefined : this.#listener.options.others?.read(all.toString('latin1', 0, end))
    if (this.#origin === undefined) {
      this.#fault({ reason: REASONS.malformed, text: 'an invalid packet' })
      return undefined
    }
    const packets = all.subarray(end + 1)
    this.#received = [packets]
    return packets
  }

  #fault({ reason, text }: PacketFault): void {
    if (this.#isOver) return
    this.#listener.counts.faults++
    this.#warn('an MQTT connection was closed because of an invalid packet', text)
    if (this.#introduced || reason !== REASONS.unsupportedVersion) return void this.end(reason)
    this.#refuse(reason)
  }

  #warn(what: string, reason: string, more: Readonly<Record<string, unknown>> = {}): void {
    const { caller, clientId } = this.#known ?? {}
    const address = this.#address
    const peer = { address, ...(caller && { tenant: caller.tenant, key: caller.user }) }
    const client = clientId !== undefined && { client: clientId.slice(0, MAX_SHOWN) }
    this.#listener.log.log(what, caller?.user ?? address, {
      reason: reason.slice(0, MAX_SHOWN),
      ...peer,
      ...client,
      ...more,
    })
  }

  #take(packet: Packet): void {
    if (this.#isOver) return
    if (!this.#introduced) {
      if (packet.cmd !== 'connect')
        return this.#fault({ reason: REASONS.protocol, text: 'the first packet is not a CONNECT' })
      this.#introduced = true
      // secrets may wait for their turn to be hashed
      this.#cancelTimer()
      this.#frames.limit = this.#listener.limits.packetBytes
      this.#socket.pause()
      // fails if the tenant has just left this host
      this.#introduce(packet).catch(() => this.#refuse(REASONS.busy))
    } else if (this.#known === undefined) this.#early.push(packet)
    else this.#handle(packet, this.#known)
  }

  async #introduce(packet: IConnectPacket): Promise<void> {
    const { protocolVersion = 4, keepalive = 0, will } = packet
    this.#writer.version = protocolVersion
    if (packet.properties?.authenticationMethod !== undefined) return this.#refuse(REASONS.badMethod)
    if (protocolVersion < 5 && packet.clientId === '' && packet.clean === false)
      return this.#refuse(REASONS.badClientId)
    const topic = will && publishTopic(will.topic)
    if (will !== undefined && topic === undefined) return this.#refuse(REASONS.badTopic)
    const caller = await this.#callerOf(packet)
    if (typeof caller === 'number') return this.#refuse(caller)
    if (topic !== undefined && !mayPublish(caller, topic)) return this.#refuse(REASONS.notAuthorized)
    if (this.#isOver || (await this.#goesElsewhere(caller))) return
    const { newId, api: apiOf, watch } = this.#listener.options
    const clientId = packet.clientId === '' ? newId() : packet.clientId
    const api = apiOf(caller)
    this.#writer.mostBytes = packet.properties?.maximumPacketSize
    this.#name = { caller, clientId }
    this.#listener.named(caller, clientId, this)
    const sessions = this.#listener.options.sessions?.(caller)
    const opened = await sessions?.open({ ...sessionRequest(packet, caller, clientId), holder: this })
    const kept = sessions && opened && { sessions, session: opened.session }
    if (this.#isOver) return kept && (await kept.sessions.leave(kept.session, this))
    if (kept !== undefined) this.#taken = kept.session.taken
    const { receiveMaximum } = packet.properties ?? {}
    const subscriptions = new Subscriptions({
      api,
      rights: caller.rights,
      writer: this.#writer,
      listener: this.#listener,
      ended: () => void this.end(REASONS.shuttingDown),
      receiveMaximum,
      kept,
    })
    this.#known = { caller, api, clientId, subscriptions, kept }
    this.#forget = watch?.(caller, () => void this.end(REASONS.notAuthorized))
    if (will && topic) {
      const delay = kept === undefined ? 0 : (will.properties?.willDelayInterval ?? 0) * 1000
      this.#will = { topic, payload: Buffer.from(will.payload), retain: will.retain === true, delay }
    }
    this.#present(this.#known, true)
    this.#silenceMs = keepalive * 1500
    this.#listenOn()
    this.#accept(this.#known, packet.clientId === '', opened?.isPresent ?? false)
    subscriptions.restore()
    for (const early of this.#early.splice(0)) this.#take(early)
    this.#socket.resume()
  }

  async #goesElsewhere({ tenant }: Caller): Promise<boolean> {
    const { others } = this.#listener.options
    if (others === undefined) return false
    const { address, hops = 0, term = 0 } = this.#origin ?? { address: this.#address }
    const found = await others.find(tenant, { address, hops, term }).catch((error: unknown) => messageOf(error))
    const received = Buffer.concat(this.#received ?? [])
    this.#received = undefined
    if (this.#isOver) return true
    if (found === undefined) return false
    if (typeof found === 'string') {
      this.#warn('an MQTT client must reconnect', found)
      this.#refuse(REASONS.busy)
      return true
    }
    this.#cancelTimer()
    this.#socket.removeAllListeners('data')
    handOver(this.#socket, found, received)
    return true
  }

  get #address(): string {
    return this.#origin?.address ?? this.#socket.remoteAddress ?? ''
  }

  async #callerOf({ username, password }: IConnectPacket): Promise<Caller | Reason> {
    const { authenticate, certified } = this.#listener.options
    try {
      const caller =
        username === undefined || password === undefined
          ? await certified?.(this.#socket)
          : await authenticate(username, password.toString(), this.#address, this.#socket)
      if (caller !== undefined) return caller
      if (username === undefined || password === undefined) return REASONS.badCredentials
      return this.#wrong('the API key or its secret is wrong', username)
    } catch (error) {
      if (!(error instanceof AppError)) return REASONS.busy
      if (error.code === 'UNAUTHORIZED') return this.#wrong(error.message, username)
      return error.code === 'RATE_LIMITED' ? REASONS.rateTooHigh : REASONS.busy
    }
  }

  #wrong(reason: string, key = ''): Reason {
    this.#listener.counts.wrongCredentials++
    this.#warn('the credentials of an MQTT client are wrong', reason, { key: key.slice(0, MAX_SHOWN) })
    return REASONS.badCredentials
  }

  #accept({ clientId, kept }: Known, isAssigned: boolean, isPresent: boolean): void {
    const { version } = this.#writer
    if (version !== 5) {
      return this.#writer.send({ cmd: 'connack', sessionPresent: isPresent && version > 3, returnCode: 0 })
    }
    const { inFlight, packetBytes } = this.#listener.limits
    this.#writer.send({
      cmd: 'connack',
      sessionPresent: isPresent,
      reasonCode: REASONS.success,
      properties: {
        sessionExpiryInterval: kept?.session.expiry ?? 0,
        receiveMaximum: inFlight,
        maximumPacketSize: packetBytes,
        retainAvailable: true,
        sharedSubscriptionAvailable: false,
        ...(isAssigned && { assignedClientIdentifier: clientId }),
      },
    })
  }

  #refuse(reason: Reason): void {
    const code = this.#writer.version === 5 ? { reasonCode: reason } : { returnCode: returnCode(reason) }
    this.#writer.send({ cmd: 'connack', sessionPresent: false, ...code })
    this.#over()
  }

  #handle(packet: Packet, known: Known): void {
    const { subscriptions } = known
    switch (packet.cmd) {
      case 'publish':
        return this.#publish(packet, known)
      case 'pubrel': {
        const wasTaken = this.#taken.delete(packet.messageId ?? 0)
        return this.#inOrder(() => {
          // the message may have come over an earlier connection
          if (wasTaken && this.#unacknowledged > 0) this.#unacknowledged--
          this.#acknowledge('pubcomp', packet.messageId)
        })
      }
      case 'puback':
        return subscriptions.acknowledged(packet.messageId ?? 0)
      case 'subscribe': {
        const granted = subscriptions.add(packet)
        const acknowledge = (): void => {
          if (!this.#isOver) this.#writer.send({ cmd: 'suback', messageId: packet.messageId ?? 0, granted })
        }
        const { ready } = subscriptions
        return ready === undefined ? acknowledge() : void ready.then(acknowledge)
      }
      case 'unsubscribe': {
        const granted = packet.unsubscriptions.map((filter) => subscriptions.unsubscribe(filter))
        const acknowledge = (): void =>
          this.#writer.send({ cmd: 'unsuback', messageId: packet.messageId ?? 0, granted })
        const { ready } = subscriptions
        return ready === undefined ? acknowledge() : void ready.then(acknowledge)
      }
      case 'pingreq':
        return this.#writer.send({ cmd: 'pingresp' })
      case 'disconnect':
        // reason code 4 means: disconnect, and publish the will
        if (packet.reasonCode !== 4) this.#will = undefined
        return this.#disconnect(packet.properties?.sessionExpiryInterval, known)
      case 'auth':
        return void this.end(REASONS.badMethod)
      default:
        return this.#fault({ reason: REASONS.protocol, text: `an unexpected packet ${packet.cmd}` })
    }
  }

  #disconnect(expiry: number | undefined, { kept }: Known): void {
    if (expiry !== undefined && expiry > 0 && kept === undefined) {
      return this.#fault({ reason: REASONS.protocol, text: 'a session that is to be kept from now on' })
    }
    this.#expiry = expiry
    this.#over()
  }

  #publish({ topic, payload, qos, retain, messageId = 0 }: IPublishPacket, known: Known): void {
    if (qos === 2 && this.#taken.has(messageId)) return this.#inOrder(() => this.#acknowledge('pubrec', messageId))
    if (qos > 0 && ++this.#unacknowledged > this.#listener.limits.inFlight && this.#writer.version === 5) {
      return this.#fault({ reason: REASONS.tooMany, text: 'more unacknowledged messages than the receive maximum' })
    }
    const posted = this.#post(known, topic, Buffer.from(payload), retain)
    // the rejection is handled when the message's turn comes
    posted.catch(() => undefined)
    this.#waitFor(1)
    if (qos === 2) this.#taken.add(messageId)
    this.#inOrder(async () => {
      const reason = await this.#outcome(posted, topic)
      this.#waitFor(-1)
      if (reason === undefined) this.#taken.delete(messageId)
      if (reason === undefined || qos === 0) return
      const isLast = qos === 1 || (reason >= 0x80 && this.#writer.version === 5)
      if (qos === 2 && isLast) this.#taken.delete(messageId)
      if (isLast) this.#unacknowledged--
      this.#acknowledge(qos === 1 ? 'puback' : 'pubrec', messageId, reason)
    })
  }

  async #post({ caller, api }: Known, topic: string, payload: Buffer, retain: boolean): Promise<void> {
    const place = publishTopic(topic)
    if (caller.rights !== undefined) requireScope(caller.rights, scopeOfPublish(place))
    return place === undefined ? this.#convert(caller, topic, payload) : post(api, { topic: place, payload, retain })
  }

  async #convert(caller: Caller, topic: string, payload: Buffer): Promise<void> {
    const isTaken = (await this.#listener.options.convert?.(caller, topic, payload)) ?? false
    if (!isTaken) throw new UnknownTopic(topic)
  }

  /** Returns the reason code to acknowledge with; undefined if the message must not be acknowledged. */
  async #outcome(posted: Promise<unknown>, topic: string): Promise<Reason | undefined> {
    try {
      await posted
      return REASONS.success
    } catch (error) {
      const reason = refusalReason(error)
      if (reason === undefined) {
        void this.end(REASONS.busy)
        return undefined
      }
      this.#known?.subscriptions.reportError(topic, error as AppError)
      this.#listener.counts.refused++
      this.#warn('a message over MQTT was rejected', messageOf(error), { topic: topic.slice(0, MAX_SHOWN) })
      return error instanceof UnknownTopic ? REASONS.badTopic : reason
    }
  }

  #acknowledge(cmd: 'puback' | 'pubrec' | 'pubcomp', messageId = 0, reason: Reason = REASONS.success): void {
    const reasonFields = this.#writer.version === 5 && reason !== REASONS.success ? { reasonCode: reason } : {}
    this.#writer.send({ cmd, messageId, ...reasonFields })
  }

  #inOrder(work: () => void | Promise<void>): void {
    this.#last = this.#last.then(work).catch((error: unknown) => {
      this.#socket.destroy(new Error(messageOf(error)))
    })
  }

  #waitFor(more: 1 | -1): void {
    this.#inFlight += more
    const { inFlight } = this.#listener.limits
    if (this.#inFlight >= inFlight) this.#socket.pause()
    else if (this.#inFlight < inFlight / 2 && this.#socket.isPaused()) this.#socket.resume()
  }

  #present({ caller, clientId }: Known, isOnline: boolean): void {
    const { presence } = this.#listener.options
    if (presence === undefined) return
    this.#inOrder(async () => {
      await presence(caller, clientId, isOnline).catch((error: unknown) => {
        this.#warn('the presence of a device was not stored', messageOf(error))
      })
    })
  }

  /** A client silent for one and a half times its keep-alive is disconnected. */
  #listenOn(): void {
    if (this.#known === undefined) return
    this.#cancelTimer()
    if (this.#silenceMs > 0) {
      this.#cancelTimer = this.#listener.after(this.#silenceMs, () => void this.end(REASONS.keepAlive))
    }
  }

  #over(): void {
    this.#isOver = true
    this.#socket.end()
    // keep reading and drop the bytes, so that the peer can read the reason
    this.#socket.resume()
    // do not wait forever for a silent peer
    this.#listener.after(1000, () => this.#socket.destroy())
    this.#leave()
  }

  #leave(): void {
    this.#isOver = true
    this.#cancelTimer()
    const { caller, clientId } = this.#name ?? {}
    const isLast = this.#listener.left(this, caller, clientId ?? '')
    const known = this.#known
    known?.subscriptions.end()
    this.#forget?.()
    if (known !== undefined && !this.#hasLeft) this.#leaveSession(known, isLast)
    this.#hasLeft = true
  }

  #leaveSession(known: Known, isLast: boolean): void {
    const { caller, clientId, api, kept } = known
    const will = this.#will
    this.#will = undefined
    const publishWill = (): void => {
      if (will !== undefined) this.#inOrder(() => post(api, will).catch(() => undefined))
    }
    if (will !== undefined) {
      if (isLast && will.delay > 0) this.#listener.delayWill(caller, clientId, will.delay, publishWill)
      else if (will.delay === 0) publishWill()
    }
    if (kept !== undefined) {
      this.#inOrder(() => kept.sessions.leave(kept.session, this, this.#expiry).catch(() => undefined))
      kept.session.drained = this.#last
    }
    if (isLast && !this.#isShutDown) this.#present(known, false)
  }
}

function mayPublish({ rights }: Caller, topic: PublishTopic): boolean {
  return rights === undefined || hasScope(rights, scopeOfPublish(topic))
}

class UnknownTopic extends AppError {
  constructor(topic: string) {
    super('VALIDATION', `the topic "${topic.slice(0, 200)}" does not accept messages`)
  }
}

/** Accepts timestamps out of bounds, because devices do not read why a message was rejected. */
const UNANSWERED = { badTime: 'receipt' } as const

async function post(
  { posting, retained }: MqttBrokerApi,
  { topic, payload, retain }: Pick<Will, 'topic' | 'payload' | 'retain'>,
): Promise<void> {
  if (retain && topic.kind === 'resource' && payload.length === 0) return retained.clear(topic.resource, topic.channel)
  const body = parseMessages(bodyText(payload))
  if (topic.kind === 'messages') await posting.events(undefined, body, UNANSWERED)
  else if (retain) await retained.publish(topic.resource, topic.channel, body, UNANSWERED)
  else if (topic.channel === 'events') await posting.events(topic.resource, body, UNANSWERED)
  else await posting.command(topic.resource, body)
}

function sessionRequest(packet: IConnectPacket, { user, rights }: Caller, clientId: string) {
  const isClean = packet.clean ?? true
  const untilClean = isClean ? 0 : MAX_EXPIRY
  const expiry = packet.protocolVersion === 5 ? (packet.properties?.sessionExpiryInterval ?? 0) : untilClean
  return { key: user, clientId, isClean, expiry, isDevice: rights?.resources !== undefined }
}
