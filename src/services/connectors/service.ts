/** The connectors of one tenant: their documents in its store, and the running connectors. */
import { AppError, type Caller, KeyedMutex, type Logger, messageOf, type StartTimer } from '#kernel'
import type { TenantLog } from '#log'
import type { Collection, Store } from '#storage'
import type { InternalAlarms } from '#services/alarms/contract'
import { type Checked, requireName } from '#services/shared'
import type { InternalVault } from '#services/vault/contract'
import { openedConnection, secretsOf } from './connection.ts'
import { NO_PROGRESS, PROGRESS, RejectedRecords, SINKS, SOURCES, type StoredConnector } from './connector-records.ts'
import {
  type ConnectorStatus,
  type Retried,
  SinkConfiguration,
  type SinkDocument,
  SourceConfiguration,
  type SourceDocument,
} from './connector-schema.ts'
import type { ConnectorApi, ConnectorGauges, ConnectorsApi, InternalConnectors, Sink, Source } from './contract.ts'
import type { Connectors, Opening } from './port.ts'
import type { Runner, RunnerOptions } from './runner.ts'
import { FiringLog, type FiringTapOfRules } from './firing-log.ts'
import { type FollowedLog, itemOfAlarmEvent, itemOfFiring, type ItemFeed, itemsOfEntry, logFeed } from './sink-items.ts'
import { readRecord, REFUSALS } from './decode-record.ts'
import { placeOf, SinkRunner } from './sink-runner.ts'
import { type SourceNeighbours, SourceRunner } from './source-runner.ts'

export interface ConnectorsDependencies extends SourceNeighbours {
  readonly tenant: string
  /** distinguishes the clients of deployments at one broker: letters and digits */
  readonly deployment: string
  readonly store: Store
  readonly log: TenantLog
  readonly connectors: Connectors
  readonly vault: () => InternalVault | undefined
  readonly alarms: () => InternalAlarms | undefined
  readonly firings: () => FiringTapOfRules | undefined
  /** Throws for a `host:port` that the host may not connect to. */
  readonly checkAddress: (address: string) => Promise<void>
  readonly now: () => number
  readonly later: StartTimer
  readonly logger: Logger
}

const ACTOR = 'system/connectors'
const BOUND_TO_BIRTHS = 'a payload of Sparkplug can only be read with the births before it; request the birth again'
const MAX_FAULT = 1_000
const MAX_CONNECTORS = 100
const TRIM_MS = 30_000
/** maximum number of entries of a log that wait for a sink; older ones are removed unsent */
const MAX_HELD = 5_000_000

type Document = SourceDocument | SinkDocument

interface Kind<D extends Document> {
  readonly one: 'source' | 'sink'
  readonly records: Collection<StoredConnector<D>>
  readonly configuration: Checked
  readonly runner: (options: RunnerOptions<D>) => Runner
  /** where a new one begins */
  readonly begin: (document: D) => Promise<typeof NO_PROGRESS>
}

export class TenantConnectors implements InternalConnectors {
  readonly #dependencies: ConnectorsDependencies
  readonly #rejected: RejectedRecords
  readonly #runners = new Map<string, Runner>()
  readonly #turns = new KeyedMutex()
  readonly #firings: FiringLog
  #stopTrimming: (() => void) | undefined
  /** last entry of the log when this process started; the position may begin at 0 */
  #logEnd = 0
  readonly #api: ConnectorsApi
  readonly #kinds: readonly [Kind<SourceDocument>, Kind<SinkDocument>]
  #isRunning = false
  readonly #counts = { accepted: 0, rejected: 0, retried: 0 }

  constructor(dependencies: ConnectorsDependencies) {
    this.#dependencies = dependencies
    const { store, log } = dependencies
    this.#rejected = new RejectedRecords(store)
    this.#firings = new FiringLog(store, dependencies.later, (what) => dependencies.logger.warn(what))
    const sources: Kind<SourceDocument> = {
      one: 'source',
      records: store.collection(SOURCES),
      configuration: SourceConfiguration,
      runner: (options) => new SourceRunner({ ...options, ...this.#neighbours }),
      begin: async () => NO_PROGRESS,
    }
    const sinks: Kind<SinkDocument> = {
      one: 'sink',
      records: store.collection(SINKS),
      configuration: SinkConfiguration,
      runner: (options) => new SinkRunner({ ...options, feed: () => this.#feedOf(options.document) }),
      begin: async ({ select: { items } }) => {
        const { last } = await this.#followed(items).log.bounds()
        return { ...NO_PROGRESS, position: { [items]: last } }
      },
    }
    this.#kinds = [sources, sinks]
    this.#api = {
      sources: {
        ...this.#apiOf<SourceDocument, Source>(sources),
        retry: (name, ids) => this.#turns.run(idOf('source', name), () => this.#retry(name, ids)),
        forget: async (name, id) => {
          await this.#source(name)
          if (await this.#rejected.remove(idOf('source', name), id)) return
          throw new AppError('NOT_FOUND', `No rejected record '${id.slice(0, 200)}'`)
        },
      },
      sinks: this.#apiOf<SinkDocument, Sink>(sinks),
    }
    log.pruner.sinks = () => this.#floor(['messages', 'commands'], Math.max(log.position, this.#logEnd))
  }

  as(_caller: Caller): ConnectorsApi {
    return this.#api
  }

  async prepare(): Promise<void> {
    await this.#firings.open()
    this.#logEnd = (await this.#dependencies.log.log.bounds()).last
    await this.#listen()
  }

  async start(): Promise<void> {
    this.#isRunning = true
    await this.prepare()
    this.#trim()
    for (const kind of this.#kinds) await this.#startAll<Document>(kind as unknown as Kind<Document>)
  }

  async stop(): Promise<void> {
    this.#isRunning = false
    this.#stopTrimming?.()
    await Promise.all([...this.#runners.keys()].map((id) => this.#end(id)))
  }

  gauges(): ConnectorGauges {
    let lag = 0
    for (const { status } of this.#runners.values()) lag += status.lag ?? 0
    return { lag, ...this.#counts }
  }

  warnings(): readonly string[] {
    return [...this.#runners].flatMap(([id, { status }]) => {
      return status.state === 'retrying' ? [`${id}: ${status.lastError?.message ?? 'does not connect'}`] : []
    })
  }

  /** Takes firings while a sink wants them. */
  async #listen(): Promise<void> {
    const sinks = await this.#kinds[1].records.find({ limit: MAX_CONNECTORS })
    const isWanted = sinks.some(({ value }) => value.document.select.items === 'firings')
    this.#dependencies.firings()?.listen(isWanted ? this.#firings.take : undefined)
  }

  #trim(): void {
    this.#stopTrimming = this.#dependencies.later(TRIM_MS, () => {
      const upTo = this.#floor(['firings'], this.#firings.last())
      const trimmed = upTo.then((floor) => this.#firings.log.trim(Math.min(floor, this.#firings.last())))
      void trimmed.catch(() => undefined).then(() => this.#isRunning && this.#trim())
    })
  }

  get #neighbours(): SourceNeighbours {
    const { broker, converter, resources } = this.#dependencies
    return { broker, converter, resources }
  }

  async #startAll<D extends Document>(kind: Kind<D>): Promise<void> {
    for (const { value } of await kind.records.find({ limit: MAX_CONNECTORS })) this.#begin(kind, value)
  }

  #apiOf<D extends Document, Shown>(kind: Kind<D>): ConnectorApi<Shown> {
    const { one, records } = kind
    const found = async (name: string): Promise<StoredConnector<D>> => {
      const stored = await records.get(name)
      if (stored === undefined) throw new AppError('NOT_FOUND', `No ${one} '${name.slice(0, 200)}'`)
      return stored.value
    }
    const shown = async ({ name, document }: StoredConnector<D>): Promise<Shown> => {
      const status = this.#runners.get(idOf(one, name))?.status ?? (await this.#restingStatus(idOf(one, name)))
      return { name, ...document, status } as Shown
    }
    const inTurn = <T>(name: string, work: () => Promise<T>): Promise<T> => this.#turns.run(idOf(one, name), work)
    const paused = (name: string, isPaused: boolean): Promise<Shown> =>
      inTurn(name, async () => {
        const { document } = await found(name)
        const { paused: _paused, ...rest } = document
        return shown(await this.#store(kind, { name, document: { ...rest, ...(isPaused && { paused: true }) } as D }))
      })
    return {
      put: async (name, body) => {
        const document = kind.configuration.read(body) as D
        requireName(one, name)
        return inTurn(name, async () => {
          const created = (await records.get(name)) === undefined
          if (created && (await records.count()) >= MAX_CONNECTORS) {
            throw new AppError('TOO_LARGE', `the tenant has the maximum of ${MAX_CONNECTORS} ${one}s; remove one first`)
          }
          return { connector: await shown(await this.#store(kind, { name, document })), created }
        })
      },
      get: async (name) => shown(await found(name)),
      list: async () => Promise.all((await records.find({ limit: MAX_CONNECTORS })).map(({ value }) => shown(value))),
      remove: (name) =>
        inTurn(name, async () => {
          await found(name)
          const id = idOf(one, name)
          await this.#end(id)
          const progress = this.#dependencies.store.collection(PROGRESS)
          await this.#dependencies.store.commit([records.deleting(name), progress.deleting(id)])
          await this.#rejected.removeAll(id)
          await this.#listen()
        }),
      pause: (name) => paused(name, true),
      resume: (name) => paused(name, false),
      test: async (name) => {
        const stored = await found(name)
        const { signal } = new AbortController()
        try {
          const { connector, ...opening } = await this.#opening(kind, stored, signal, 'test')
          return await connector.test(opening)
        } catch (error) {
          return { ok: false, problem: messageOf(error) }
        }
      },
      rejected: async (name, query = {}) => {
        await found(name)
        return this.#rejected.list(idOf(one, name), query)
      },
    }
  }

  async #source(name: string): Promise<SourceDocument> {
    const stored = await this.#kinds[0].records.get(name)
    if (stored === undefined) throw new AppError('NOT_FOUND', `No source '${name.slice(0, 200)}'`)
    return stored.value.document
  }

  async #retry(name: string, ids: readonly string[] | undefined): Promise<Retried> {
    const { tenant, store, broker } = this.#dependencies
    const document = await this.#source(name)
    const intake = broker()?.intake
    if (intake === undefined) throw new AppError('CLOSED', 'this host does not serve the broker')
    const options = { ...this.#neighbours, document, caller: { tenant, user: ACTOR } }
    const accepted: string[] = []
    const failed: Retried['failed'][number][] = []
    for (const kept of await this.#rejected.some(idOf('source', name), ids)) {
      try {
        if (document.type === 'sparkplug') throw new AppError('VALIDATION', BOUND_TO_BIRTHS)
        if (!kept.isWhole) throw new AppError('TOO_LARGE', 'only the beginning of the payload is kept')
        const messages = await readRecord(kept.record, intake, options)
        await (messages.length === 0 ? store.commit([kept.done]) : intake.commit(messages, [kept.done]))
        accepted.push(kept.id)
      } catch (error) {
        if (!(error instanceof AppError)) throw error
        if (REFUSALS.has(error.code)) await kept.failedAgain(error)
        failed.push({ id: kept.id, error: messageOf(error).slice(0, MAX_FAULT) })
      }
    }
    return { accepted, failed }
  }

  /** Stores a document, and restarts its connector. */
  async #store<D extends Document>(kind: Kind<D>, stored: StoredConnector<D>): Promise<StoredConnector<D>> {
    const { store } = this.#dependencies
    const id = idOf(kind.one, stored.name)
    await this.#end(id)
    const progress = store.collection(PROGRESS)
    const { position } = (await progress.get(id))?.value ?? {}
    const begin = await kind.begin(stored.document)
    const isNew = position === undefined || Object.keys(begin.position).some((place) => !(place in position))
    await store.commit([kind.records.putting(stored.name, stored), ...(isNew ? [progress.putting(id, begin)] : [])])
    await this.#listen()
    this.#begin(kind, stored)
    return stored
  }

  #begin<D extends Document>(kind: Kind<D>, stored: StoredConnector<D>): void {
    const { document, name } = stored
    if (!this.#isRunning || document.paused === true) return
    const { tenant, store, now, later, logger } = this.#dependencies
    const id = idOf(kind.one, name)
    const runner = kind.runner({
      id,
      document,
      caller: { tenant, user: ACTOR },
      store,
      rejected: this.#rejected,
      now,
      later,
      counted: (result, count) => void (this.#counts[result] += count),
      failed: (error) => logger.warn(`${id} of tenant ${tenant} failed: ${messageOf(error)}`),
      opening: (signal) => this.#opening(kind, stored, signal),
    })
    this.#runners.set(id, runner)
    runner.start()
  }

  async #end(id: string): Promise<void> {
    const runner = this.#runners.get(id)
    if (runner === undefined) return
    await runner.stop()
    this.#runners.delete(id)
  }

  async #opening<D extends Document>(
    { one }: Kind<D>,
    { name, document }: StoredConnector<D>,
    signal: AbortSignal,
    suffix = one as string,
  ): ReturnType<RunnerOptions<D>['opening']> {
    const { tenant, deployment, connectors, vault, checkAddress, logger } = this.#dependencies
    const names = secretsOf(document.connection)
    const secrets = names.length === 0 ? undefined : await vault()?.open(names)
    const connection = openedConnection(document.connection, secrets?.values ?? new Map())
    for (const address of addressesOf(document)) await checkAddress(address)
    const opening: Opening<D> = {
      document,
      connection,
      clientId: `reflexarc-${deployment}-${tenant}-${name.replaceAll(/[^\w.-]/g, '_')}-${suffix}`,
      signal,
      checkAddress,
      report: (what) => logger.warn(`${idOf(one, name)} of tenant ${tenant}: ${what}`),
    }
    return { ...opening, connector: await connectors[document.type]() }
  }

  async #restingStatus(id: string): Promise<ConnectorStatus> {
    const stored = await this.#dependencies.store.collection(PROGRESS).get(id)
    const { position: _position, ...counts } = stored?.value ?? NO_PROGRESS
    return { state: 'paused', ...counts, retried: 0 }
  }

  #feedOf({ select: { items } }: SinkDocument): ItemFeed {
    return logFeed(this.#followed(items))
  }

  #followed(items: SinkDocument['select']['items']): FollowedLog {
    const { log, alarms, later } = this.#dependencies
    if (items === 'alarms') {
      const service = alarms()
      if (service === undefined) throw new AppError('CLOSED', 'this host does not serve alarms')
      return { ...service.eventLog, itemsOf: itemOfAlarmEvent, later }
    }
    if (items === 'firings') {
      const { log: stored, last, onceGrown } = this.#firings
      return { log: stored, last, itemsOf: itemOfFiring, later, onceGrown }
    }
    const itemsOf = itemsOfEntry(items === 'commands' ? 'commands' : 'events')
    const last = (): number => Math.max(log.position, this.#logEnd)
    return { log: log.log, last, itemsOf, later, onceGrown: (wake) => log.onceGrown(wake) }
  }

  /** Returns the place up to which no sink of these items needs a log. */
  async #floor(kinds: readonly string[], last: number): Promise<number> {
    const progress = this.#dependencies.store.collection(PROGRESS)
    const stored = await this.#kinds[1].records.find({ limit: MAX_CONNECTORS })
    const chosen = stored.filter(({ value }) => kinds.includes(value.document.select.items))
    if (chosen.length === 0) return Infinity
    const places = await progress.getMany(chosen.map(({ id }) => idOf('sink', id)))
    return Math.max(last - MAX_HELD, Math.min(...places.map(({ value }) => placeOf(value))))
  }
}

function idOf(one: 'source' | 'sink', name: string): string {
  return `${one} ${name}`
}

function addressesOf({ connection: { brokers = [], url } }: Document): readonly string[] {
  return url === undefined ? brokers : [...brokers, new URL(url).host]
}
