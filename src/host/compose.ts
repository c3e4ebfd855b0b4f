/** Composition root: creates the storage, the services and the authentication. */
import { createHmac } from 'node:crypto'
import { join } from 'node:path'
import { type Program, REPLAY_NUMBER } from '#cluster'
import type { Plug } from '#plug'
import { auditedStorage, type CollectionSpec, DamageWatch, type Storage, type Store } from '#storage'
import { AppError, messageOf } from '#kernel'
import { actingAs, currentActor } from '#platform'
import { checkPairs } from './auth/check-pair.ts'
import { HOST_TENANT } from './auth/host-tenant.ts'
import { ApiKeys, KEY_RECORDS } from './auth/api-keys.ts'
import { DeviceCertificates } from './auth/device-certificates.ts'
import { KeyChanges } from './auth/key-changes.ts'
import { Oidc } from './auth/oidc.ts'
import { OpenStreams } from './auth/open-streams.ts'
import { LINKS, Sessions, SESSIONS } from './auth/sessions.ts'
import { Tokens } from './auth/tokens.ts'
import { Certificates } from './certificates.ts'
import type { Config } from './config.ts'
import {
  openDataFolder,
  randomKey,
  setTokenKey,
  type SpaceStats,
  spaceTrouble,
  spaceWarning,
  tokenKey,
} from './data-folder.ts'
import { DemoPlant } from './demo/demo-plant.ts'
import type { Demo } from './hosted-service.ts'
import { followOnOrder } from './clock-order.ts'
import { HostClock } from './host-clock.ts'
import { listeningAt } from './listen.ts'
import { HostLog } from './host-log.ts'
import { Metrics } from './metrics.ts'
import type { MountOptions } from './mount.ts'
import { openMedium } from './open-medium.ts'
import { requireSqlite } from './requirements.ts'
import type { ClusterHost } from './cluster/cluster-host.ts'
import { checkSharedFolder } from './cluster/shared-folder.ts'
import { makeCluster } from './cluster/make-cluster.ts'
import { requireReplay } from './cluster/require-replay.ts'
import { StoredBytes } from './stored-bytes.ts'
import { TenantFigures } from './tenant-figures.ts'
import { HostTenants } from './open-tenants.ts'
import { closeAll, makeServices } from './wiring/make-services.ts'
import { InternalClient } from './internal-client.ts'
import { SERVICES } from './wiring/service-table.ts'
import type { ServiceTable } from './wiring/service-dependencies.ts'
import { timeOrderedId } from './time-ordered-id.ts'
import { machineTimers, type Timers } from './timers.ts'
import { ownVersion } from './version.ts'
import { WorkThreads } from './work/work-threads.ts'
import { onOrigin } from './webscript-origin.ts'

/** Secret shared by all hosts of a deployment: the key of bearer tokens and of marks on requests between hosts. */
interface SecretRecord {
  readonly key: string
}

const SECRETS: CollectionSpec<SecretRecord> = { name: 'secrets', version: 1, fields: {} }
const TOKENS = 'tokens'

async function deploymentSecret(store: Store, own: Uint8Array): Promise<Uint8Array> {
  const secrets = store.collection(SECRETS)
  const known = await secrets.get(TOKENS)
  if (known !== undefined) return Buffer.from(known.value.key, 'base64url')
  try {
    await secrets.put(TOKENS, { key: Buffer.from(own).toString('base64url') }, 'absent')
    return own
  } catch (error) {
    // another host wrote the record first
    if (error instanceof AppError && error.code === 'CONFLICT') return deploymentSecret(store, own)
    throw error
  }
}

export interface ComposedHost extends Omit<MountOptions, 'alone' | 'cluster'> {
  readonly cluster?: ClusterHost
  readonly keyPairs: ApiKeys
  readonly certificates?: Certificates | undefined
  /**
   * Creates the demo plant in an empty store, or continues the stored one; `log` receives its progress. Returns what to
   * look at in a new plant. Members of a cluster have none.
   */
  openDemo(log: (text: string) => void): Promise<Demo | undefined>
  left(): string
  /** Stops the services and releases the store, even if a step fails. Safe to call twice. */
  close(): Promise<void>
}

export interface HostOverrides {
  readonly services?: ServiceTable
  /** Returns epoch ms; default: a clock that never goes backwards */
  readonly now?: () => number
  readonly openStorage?: typeof openMedium
  /** Returns the plugs in addition to the built-in ones: the same list until a plug changes */
  readonly plugs?: () => readonly Plug[]
  /** Module addresses of these plugs, as in `ReadPlugs`; absent: threads cannot load them */
  readonly plugModules?: () => readonly string[]
  readonly hashCost?: number
  readonly threads?: WorkThreads
  readonly timers?: Timers
  readonly program?: Program
  readonly started?: () => void
  readonly diskStats?: SpaceStats
}

/** Interval between looks at the files of the certificate, in ms */
const CERTIFICATES_MS = 5_000

const OWN_PROGRAM: Program = { version: ownVersion(), replay: REPLAY_NUMBER }
const NO_PLUGS: readonly Plug[] = []

export async function compose(config: Config, overrides: HostOverrides = {}): Promise<ComposedHost> {
  const { services = SERVICES, openStorage = openMedium, program = OWN_PROGRAM } = overrides
  const lasting = config.store.medium !== 'memory'
  if (lasting && overrides.openStorage === undefined) requireSqlite()
  if (lasting) openDataFolder(config.data)
  const serviceLog = new HostLog()
  const isMember = config.cluster !== undefined
  const clock = new HostClock(serviceLog, undefined, isMember ? 'database' : 'monotonic')
  const { now = clock.now } = overrides
  const damage = new DamageWatch(serviceLog)
  const certificates = config.tls && (await Certificates.open(config.tls, { now, logger: serviceLog }))
  const isAudited = services.has('audit') && (config.only?.includes('audit') ?? true)
  const unaudited = await openStorage(config, { damage, logger: serviceLog })
  const storage = isAudited
    ? auditedStorage(unaudited, { actor: currentActor, actingAs, now, newId: timeOrderedId })
    : unaudited
  try {
    // checked before anything that another version stored is read or replaced
    if (isMember) await requireReplay(storage.tenant(HOST_TENANT), program, overrides.timers)
    const isNew = (await storage.tenants()).length === 0
    const own = storage.tenant(HOST_TENANT)
    const records = own.collection(KEY_RECORDS)
    const keyPairs = new ApiKeys(records, now, overrides.hashCost)
    const ownSecret = lasting ? tokenKey(config.data) : randomKey()
    const secret = isMember ? await deploymentSecret(own, ownSecret) : ownSecret
    if (isMember) await checkSharedFolder(own, config.blobs ?? config.data)
    // makes tokens from `reflexarc token` valid at all hosts
    if (secret !== ownSecret) setTokenKey(config.data, secret)
    const tokens = new Tokens(secret, now, config.issuer)
    const tryWriting = writeProbe(storage, now)
    const metrics = new Metrics()
    metrics.gauges.watchQueue('storage', () => storage.stats().queued)
    metrics.gauges.watchTotal('damaged-reads', () => damage.count)
    if (!lasting) metrics.gauges.watchStored(async () => ({}))
    else {
      const bytes = new StoredBytes({
        data: config.data,
        blobs: config.blobs ?? join(config.data, 'blobs'),
        hasDatabases: config.store.medium === 'sqlite',
        elapsed: () => (overrides.timers ?? machineTimers).elapsed(),
      })
      metrics.gauges.watchStored(() => bytes.read())
    }
    metrics.gauges.watchCertificate(() => certificates?.expiry)
    metrics.gauges.watchCommits(() => storage.stats())
    metrics.gauges.watchClock(() => ({ leadMs: clock.leadMs, unconfirmedMs: clock.unconfirmedMs }))
    const threads = overrides.threads ?? new WorkThreads({ allowUrl: config.allowUrl })
    metrics.gauges.watchQueue('work', () => threads.waiting)
    const timers = overrides.timers ?? machineTimers
    const changes = new KeyChanges(storage, { elapsed: () => timers.elapsed(), isMember })
    const checkPair = checkPairs(keyPairs, now, changes)
    const openStreams = new OpenStreams({ changes, timers, now })
    const [sessionRecords, links] = [own.collection(SESSIONS), own.collection(LINKS)]
    const sessions = new Sessions({ sessions: sessionRecords, links, keys: keyPairs, changes, now })
    const devices =
      config.tls?.clientCa === undefined
        ? undefined
        : new DeviceCertificates({ keys: keyPairs, tenant: config.tenant, changes, now })
    const storeMark = lasting ? createHmac('sha256', secret).update('store').digest('hex').slice(0, 8) : undefined
    const parts = {
      storeMark,
      certificates,
      hostStore: own,
      gauges: metrics.gauges,
      figures: new TenantFigures(metrics.gauges),
      logger: serviceLog,
      config,
      threads,
      now,
      atLeast: clock.atLeast,
      plugs: overrides.plugs ?? (() => NO_PLUGS),
      plugModules: overrides.plugModules,
      checkPair,
      openStreams,
      devices,
      isToken: (token: string) => tokens.isIssued(token),
      internalClient: new InternalClient({ issueToken: (order) => tokens.issue(order), now }),
    }
    const stopFollowing = lasting
      ? followOnOrder(config.data, clock.follow, (ms, work) => timers.every(ms, work))
      : () => undefined
    const stopLooking = certificates && timers.every(CERTIFICATES_MS, () => void certificates.look())
    const cluster = isMember
      ? await makeCluster(services, parts, {
          storage,
          secret,
          timers: overrides.timers,
          program,
          compared: clock.compared,
        })
      : undefined
    const tenants = new HostTenants({ storage, figures: parts.figures, timers, logger: serviceLog })
    const made = cluster?.services ?? (await makeServices(services, { ...parts, tenants }))
    const opened = cluster?.tenants ?? tenants
    const lookUp = (tenant: string) => (id: string) => opened.of(tenant).resources?.lookup(id)
    let plant: DemoPlant | undefined
    let left = (): string => 'requests are still in progress'
    const ending =
      (what: string, end: () => void | Promise<void> | undefined) => (): void | Promise<void> | undefined => {
        left = () => `${what} has not ended`
        return end()
      }
    return {
      services: made,
      routing: cluster?.host.routing ?? tenants,
      open: async (closing) => (cluster === undefined ? tenants.start(made, closing) : undefined),
      keyPairs,
      certificates,
      async openDemo(log) {
        if (cluster !== undefined) return undefined
        try {
          if (isNew) await tenants.opened(config.tenant)
          const services = tenants.find(config.tenant)
          if (services === undefined) return undefined
          const dependencies = { tenant: config.tenant, services, timers, now, log }
          const created = isNew ? await DemoPlant.create(dependencies) : undefined
          plant = created?.plant ?? (isNew ? undefined : await DemoPlant.resume(dependencies))
          return created?.demo
        } catch (error) {
          log(`the demo plant could not be started: ${messageOf(error)}`)
          return undefined
        }
      },
      serviceLog,
      origin: (app) => cluster?.host.url ?? listeningAt(config, app),
      authentication: { checkPair, tokens, sessions, openStreams, devices, now, ownUrl: config.url },
      auth: {
        ...(config.oidc && { oidc: new Oidc({ client: config.oidc, tokens, secret, now }) }),
        keys: keyPairs,
        sessions,
        changes,
        checkPair,
        now,
        lookUp,
        ownUrl: config.url,
      },
      keeping: { storage, secret, now },
      metrics,
      tenant: config.tenant,
      limits: config.limits,
      ...(config.webscriptUrl !== undefined && { isOnWebscriptOrigin: onOrigin(config.webscriptUrl) }),
      ...(overrides.timers && { timers: overrides.timers }),
      ...(cluster && { isReady: () => cluster.host.isMember }),
      async probe() {
        await records.get('-')
        await tryWriting()
        const disk = lasting ? spaceTrouble(config.data, overrides.diskStats) : undefined
        return [disk ?? [], damage.trouble ?? [], (cluster ?? tenants).troubles()].flat()
      },
      warnings: () => [
        ...clock.warnings(),
        ...(lasting ? [spaceWarning(config.data, overrides.diskStats) ?? []].flat() : []),
        ...(certificates?.warnings() ?? []),
        ...made.flatMap(({ warnings }) => warnings?.() ?? []),
        ...(cluster ?? tenants).warnings(),
      ],
      ...(cluster && { cluster: cluster.host }),
      left: () => left(),
      close: once(() =>
        closeAll([
          ending('the demo plant', () => plant?.stop()),
          ending('the part in the cluster', () => cluster?.host.leave()),
          () => metrics.stop(),
          () => openStreams.stop(),
          stopFollowing,
          () => stopLooking?.(),
          ...made.toReversed().map(({ name, stop }) => ending(`the service ${name}`, () => stop?.())),
          () => {
            left = () => `the service ${tenants.stopping ?? 'of a tenant'} has not ended`
            return tenants.close()
          },
          ...made.map(
            ({ end }) =>
              () =>
                end?.(),
          ),
          ending('the work of requests in threads', () => threads.close()),
          ending('the store', () => storage.close()),
        ]),
      ),
    }
  } catch (error) {
    await storage.close()
    throw error
  }
}

/** Minimum interval between writes by the health probe, which anyone can call, in ms */
const PROBE_MS = 5_000

const PROBES: CollectionSpec<{ readonly at: number }> = { name: 'probes', version: 1, fields: {} }

/** Writes a value now and then, since a store that answers may still fail to persist. */
function writeProbe(storage: Storage, now: () => number): () => Promise<unknown> {
  const probes = storage.tenant(HOST_TENANT).collection(PROBES)
  let last: { readonly at: number; readonly written: Promise<unknown> } | undefined
  return () => {
    const at = now()
    if (last === undefined || Math.abs(at - last.at) >= PROBE_MS) last = { at, written: probes.put('health', { at }) }
    return last.written
  }
}

function once(work: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | undefined
  return () => (done ??= work())
}
