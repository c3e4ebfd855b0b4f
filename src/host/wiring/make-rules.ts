/** Creates the rules service of a host, and the runner of its tasks. */
import { asyncScheduler } from 'rxjs'
import { type BuiltinOptions, builtins, createBuiltins } from '#plugins'
import { DescendantBudget, withinBudget } from './descendant-budget.ts'
import { asTask, withinRights } from './within-rights.ts'
import { followResources, membersOf } from './group-members.ts'
import { resourceFinder } from './resource-filter.ts'
import { metadataOf, resourceBatches } from './resources.ts'
import { createRegistry, type Ports } from '#core'
import { generatorHere } from '#platform/generate'
import { JobSlots } from '#jobs'
import { machineTimers } from '#platform'
import type { Plug } from '#plug'
import type { DeployedPlug } from '#services/functions/contract'
import {
  createRulesService,
  type DurableOptions,
  type DurableRunner,
  openDurableRunner,
  rulesErrorBody,
  rulesRoutes,
} from '#services/rules'
import { plugServices } from './plug-services.ts'
import { functionPlug } from './function-plugs.ts'
import type { HostedService } from '../hosted-service.ts'
import type { MakeService, ServiceDependencies } from './service-dependencies.ts'
import { scriptInterpreter } from '../work/script-interpreter.ts'
import { threadedRuns, ThreadPlugs } from '../work/threaded-runs.ts'
import { timeOrderedId } from '../time-ordered-id.ts'
import { nodeTransport } from '../transport/node-transport.ts'
import { latestValue } from './broker.ts'
import { logOf, ofCaller, type ServiceRegistry } from './service-registry.ts'
import type { TenantDependencies, TenantService } from './tenant-service.ts'

/** Minimum ms between timer wake-ups, so that a fleet's timers wake the process at most 100 times a second. */
const REST_MS = 10

export const makeRules: MakeService = (parts) => makeRulesWith([], parts)

export function makeRulesWith(
  more: readonly Plug[],
  dependencies: ServiceDependencies,
  checkpoints: DurableOptions['checkpoints'] = {},
): HostedService {
  const { figures, tenants, serves } = dependencies
  // reports invalid plugs at the start, not when a tenant first needs them
  createRegistry([...builtins, ...more, ...dependencies.plugs()])
  figures.tasks(({ rules }) => rules?.tasksByStatus())
  figures.queue('batches', ({ rules }) => rules?.gauges().openBatches)
  figures.queue('event-streams', ({ rules }) => rules?.gauges().eventStreams)
  figures.queue('inputs', ({ running }) => running?.runner.queued)
  figures.queue('task-inputs', ({ running }) => running?.runner.waiting)
  figures.work(({ running }) => running?.runner.counts)
  for (const reason of ['late', 'duplicate', 'skewed', 'forgotten'] as const) {
    figures.readings(reason, ({ running }) => running?.runner.counts?.[reason])
  }
  figures.deliveries(({ running }) => running?.runner.counts?.deliveries)
  figures.total('plugs-failed', ({ running }) => running?.runner.failedCalls)
  figures.total('rehearsals-failed', ({ rules }) => rules?.gauges().failedRehearsals)
  figures.ways(({ running }) => running?.runner.stats)
  figures.kept(({ running }) => running?.runner.inputs?.figures())
  figures.total('refused-descendants', ({ running }) => running?.refusedDescendants())
  const service = ofCaller(tenants, ({ rules }) => rules)
  const batches = resourceBatches(ofCaller(tenants, ({ resources }) => resources))
  const threadPlugs = new ThreadPlugs({
    plugs: () => [...more, ...dependencies.plugs()],
    modules: more.length > 0 ? undefined : dependencies.plugModules,
    logger: dependencies.logger,
  })
  const host: RulesOfHost = { threadPlugs, runners: new Set(), places: new JobSlots(), checkpoints }
  return {
    name: 'rules',
    description: 'Tasks, templates, batch operations, and tools to inspect them',
    example: '/api/tasks',
    errorBody: rulesErrorBody,
    routes: (app) => rulesRoutes(app, { service, otherBatches: () => (serves('resources') ? batches : undefined) }),
    open: (parts) => openRules(more, dependencies, host, parts),
  }
}

function openRules(
  more: readonly Plug[],
  dependencies: ServiceDependencies,
  host: RulesOfHost,
  { tenant, store, services }: TenantDependencies,
): TenantService {
  const { gauges, now, atLeast, logger, config, threads } = dependencies
  const { threadPlugs, runners, checkpoints } = host
  const warn = (text: string): void => logger.warn(text)
  const budget = new DescendantBudget({ tenant, most: config.maxDescendants, now, warn })
  const own = plugServices(tenant, services, machineTimers.later)
  const plugServicesHere = withinRights(withinBudget(own, budget))
  const functionsHere = () => services.functions
  const deployed = () => functionsHere()?.plugs() ?? NO_FUNCTIONS
  const functions = derived([deployed], (list) => list.map((one) => functionPlug(one, functionsHere)))
  const plugsWith = (options: BuiltinOptions) => {
    const equipped = [...createBuiltins({ ...outboundOf(config), services: plugServicesHere, ...options }), ...more]
    return derived([() => equipped, dependencies.plugs, functions], (all) => all)
  }
  // tasks run scripts at once in this thread; direct runs may wait for other threads, so that they delay nothing here
  const rightsOf = (task: string) => services.rules?.rightsOf(task)
  const plugs = plugsWith({ clock: machineTimers.elapsed, calling: (plug) => asTask(plug, rightsOf) })
  const directPlugs = plugsWith({ interpreter: scriptInterpreter(threads) })
  const uncheckedOnes = derived([plugs], (all) => all.map(unchecked))
  const ports = enginePorts(tenant, services)
  const generate = generatorHere()
  const runner = openDurableRunner({
    store,
    log: logOf(services, store),
    plugs: uncheckedOnes,
    ports,
    scheduler: { now, schedule: asyncScheduler.schedule.bind(asyncScheduler) },
    reached: atLeast,
    restMs: REST_MS,
    keepInputs: config.keepInputs,
    inputAge: () => services.retention?.ageOf('inputs'),
    checkpoints,
    waitingInAll: () => [...runners].reduce((sum, { waiting }) => sum + waiting, 0),
    identityIgnores: config.identityIgnores,
    duplicates: config.duplicates,
    dedupWindow: config.dedupWindow,
    timed: () => {
      const began = machineTimers.elapsed()
      return () => gauges.plugTook(machineTimers.elapsed() - began)
    },
    ...(generate && { generate }),
    logger,
  })
  runners.add(runner)
  const rules = createRulesService({
    tenant,
    store,
    runner,
    kept: () => runner.past.kept,
    plugs,
    directPlugs,
    elsewhere: threadedRuns({
      tenant,
      threads,
      now,
      services: plugServicesHere,
      ports,
      deployed,
      functions: functionsHere,
      plugs: threadPlugs,
    }),
    ports,
    now,
    newId: () => timeOrderedId(now()),
    places: host.places,
    logger,
    resources: () => services.resources && resourceFinder(tenant, services.resources),
    templateWritten: (template) => services.work?.templateWritten(template),
    readable: async () => services.broker?.readable(),
  })
  let stopFollowing = (): void => undefined
  const running = { runner, refusedDescendants: () => budget.refused }
  return {
    provides: { rules, runner, running },
    life: {
      trouble: () => runner.trouble && `tenant ${tenant}: ${runner.trouble}`,
      warnings: () => [...budget.loops(), ...leadWarnings(tenant, runner.leadMs)],
      start: async (closing) => {
        await services.connectors?.prepare()
        await rules.start(closing)
        stopFollowing = followResources(
          tenant,
          () => services.resources,
          () => runner.resourcesChanged(),
        )
      },
      async stop() {
        stopFollowing()
        await rules.stop()
        await runner.close()
        runners.delete(runner)
      },
    },
  }
}

interface RulesOfHost {
  readonly threadPlugs: ThreadPlugs
  readonly runners: Set<DurableRunner>
  readonly places: JobSlots
  readonly checkpoints: NonNullable<DurableOptions['checkpoints']>
}

/** How far tasks may be ahead of the host's time without a warning, in ms */
const MAX_LEAD_MS = 1_000

function leadWarnings(tenant: string, ms: number): readonly string[] {
  if (ms < MAX_LEAD_MS) return []
  return [
    `tasks of tenant ${tenant} are ${Math.round(ms / 1000)} s ahead of the time of this host, like their log; they run a tenth slower until both agree`,
  ]
}

function outboundOf({ allowUrl }: ServiceDependencies['config']): Pick<BuiltinOptions, 'outbound'> {
  return { outbound: { transport: nodeTransport({ allow: allowUrl }) } }
}

const uncheckedPlugs = new WeakMap<Plug, Plug>()

/** Stored rules were checked when saved, and must run even if a service has become stricter since. */
function unchecked(plug: Plug): Plug {
  if (plug.check === undefined) return plug
  const known = uncheckedPlugs.get(plug)
  if (known !== undefined) return known
  const made = { ...plug, check: undefined }
  uncheckedPlugs.set(plug, made)
  return made
}

/** Derives a list of plugs from source lists, again only when a source list changes. */
function derived<T>(
  sources: readonly (() => readonly T[])[],
  make: (all: readonly T[]) => readonly Plug[],
): () => readonly Plug[] {
  let lists = sources.map((source) => source())
  let made = make(lists.flat())
  return () => {
    const current = sources.map((source) => source())
    if (current.some((list, i) => list !== lists[i])) {
      lists = current
      made = make(current.flat())
    }
    return made
  }
}

const NO_FUNCTIONS: readonly DeployedPlug[] = []

/** Returns the ports that a tenant's engine uses to call services. Secrets need a vault on this host. */
function enginePorts(tenant: string, services: ServiceRegistry): Ports {
  return {
    latestValue: latestValue(tenant, () => services.broker),
    metadata: metadataOf(() => services.resources),
    members: membersOf(tenant, () => services.resources),
    secret: async (key) => (await services.vault?.open([key]))?.values.get(key),
  }
}
