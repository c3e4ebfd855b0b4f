/** Makes the rules service of a host, and what runs its tasks. */
import { asyncScheduler, type SchedulerAction, type SchedulerLike, type Subscription } from 'rxjs'
import { type BuiltinOptions, builtins, createBuiltins } from '#plugins'
import { DescendantBudget, withinBudget } from './descendant-budget.ts'
import { resourceFinder } from './resource-filter.ts'
import { metadataOf, resourceBatches } from './resources.ts'
import { createRegistry, type Ports } from '#core'
import { generatorHere } from '#platform/generate'
import { type Logger, perTenant } from '#kernel'
import { machineTimers } from '#platform'
import type { Plug } from '#plug'
import type { DeployedPlug } from '#services/functions/contract'
import {
  createRulesService,
  type DurableOptions,
  openDurableRunner,
  Relay,
  rulesErrorBody,
  rulesRoutes,
  type TaskRunner,
} from '#services/rules'
import type { Storage } from '#storage'
import { plugServices } from './plug-services.ts'
import { functionPlug } from './function-plugs.ts'
import type { HostedPartition } from '../cluster/partition-questions.ts'
import { demoRules } from '../demo.ts'
import type { HostedService } from '../hosted-service.ts'
import type { MakeService, ServiceDependencies } from './service-dependencies.ts'
import { scriptInterpreter } from '../work/script-interpreter.ts'
import { ThreadPlugs } from '../work/thread-plugs.ts'
import { threadedRuns } from '../work/threaded-runs.ts'
import { timeOrderedId } from '../time-ordered-id.ts'
import { nodeTransport } from '../transport/node-transport.ts'
import { latestValue } from './broker.ts'
import { logsOf, ofCaller, type ServiceRegistry } from './service-registry.ts'
import type { SharedDependencies, SharedService } from './tenant-service.ts'

/** Timers of a fleet wake the process at most 100 times a second. */
const REST_MS = 10

/** The rules service over the durable runner, with all built-in plugs and those of the host. Throws `PLUG`. */
export const makeRules: MakeService = (parts) => makeRulesWith([], parts)

/** The same with more plugs, and with states that are stored otherwise. */
export function makeRulesWith(
  more: readonly Plug[],
  dependencies: ServiceDependencies,
  checkpoints: DurableOptions['checkpoints'] = {},
): HostedService {
  const { figures, tenants, serves } = dependencies
  // said at once, not when a tenant asks for the first time
  createRegistry([...builtins, ...more, ...dependencies.plugs()])
  figures.tasks(({ rules }) => rules?.tasksByStatus())
  figures.queue('batches', ({ rules }) => rules?.gauges().openBatches)
  figures.queue('event-streams', ({ rules }) => rules?.gauges().eventStreams)
  figures.queue('inputs', ({ running }) => running?.runner.queued)
  figures.queue('task-inputs', ({ running }) => running?.runner.waiting)
  figures.work(({ running }) => running?.runner.counts)
  for (const reason of ['late', 'duplicate', 'skewed', 'forgotten'] as const) {
    figures.readings(reason, ({ running }) => running?.runner.counts[reason])
  }
  figures.ways(({ running }) => running?.runner.stats)
  figures.total('refused-descendants', ({ running }) => running?.refusedDescendants())
  const service = ofCaller(tenants, ({ rules }) => rules)
  const batches = resourceBatches(ofCaller(tenants, ({ resources }) => resources))
  return {
    name: 'rules',
    description: 'Tasks, templates, batch operations, and tools to look into them',
    example: '/api/tasks',
    errorBody: rulesErrorBody,
    demo: (tenant) => demoRules(service.as({ tenant, user: 'demo' })),
    routes: (app) => rulesRoutes(app, { service, otherBatches: () => (serves('resources') ? batches : undefined) }),
    openShared: (parts) => openRules(more, dependencies, parts, checkpoints),
  }
}

function openRules(
  more: readonly Plug[],
  dependencies: ServiceDependencies,
  { storage, registry, partition, of }: SharedDependencies,
  checkpoints: NonNullable<DurableOptions['checkpoints']>,
): SharedService {
  const { gauges, now, atLeast, logger, config, threads } = dependencies
  const budgets: DescendantBudget[] = []
  const servicesOf = perTenant((tenant) => {
    const warn = (text: string): void => logger.warn(text)
    const budget = new DescendantBudget({ tenant, most: config.maxDescendants, now, warn })
    budgets.push(budget)
    const own = plugServices(tenant, of(tenant), machineTimers.later)
    return withinBudget(partition?.ports(own) ?? own, budget)
  })
  const functionsHere = () => partition?.first?.functions ?? registry.functions
  const deployed = (tenant: string) => () => functionsHere()?.plugs(tenant) ?? NO_FUNCTIONS
  const functions = perTenant((tenant) =>
    derived(deployed(tenant), (list) => list.map((one) => functionPlug(tenant, one, functionsHere))),
  )
  const plugsWith = (options: BuiltinOptions) =>
    perTenant((tenant) => {
      const equipped = createBuiltins({ ...outboundOf(config), services: servicesOf(tenant), ...options })
      const given = derived(dependencies.plugs, (list) => [...equipped, ...more, ...list])
      return joined(given, () => functions(tenant)())
    })
  // tasks want their answers at once; who asks for a run can wait for it, and others need not
  const plugs = plugsWith({ clock: machineTimers.elapsed })
  const directPlugs = plugsWith({ interpreter: scriptInterpreter(threads) })
  const uncheckedOf = perTenant((tenant) => derived(plugs(tenant), (all) => all.map(unchecked)))
  const ports = perTenant((tenant) => enginePorts(tenant, of(tenant), partition))
  const generate = generatorHere()
  const durable = openDurableRunner({
    store: (tenant) => storage.tenant(tenant),
    log: logsOf(registry, storage),
    plugs: (tenant) => uncheckedOf(tenant)(),
    ports,
    scheduler: new HostScheduler(now),
    reached: atLeast,
    bind: async (_tenant, resources) => relay?.bind(resources),
    restMs: REST_MS,
    checkpoints,
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
  const relay = partition && relayOf(partition, durable.intake, storage, logger)
  const runner = relay === undefined ? durable : withIntake(durable, relay.intake)
  const threadPlugs = new ThreadPlugs({
    plugs: () => [...more, ...dependencies.plugs()],
    modules: more.length > 0 ? undefined : dependencies.plugModules,
    logger,
  })
  const service = createRulesService({
    storage,
    runner,
    plugs: (tenant) => plugs(tenant)(),
    directPlugs: (tenant) => directPlugs(tenant)(),
    elsewhere: (tenant) =>
      threadedRuns({
        tenant,
        threads,
        now,
        services: servicesOf(tenant),
        ports: ports(tenant),
        deployed: deployed(tenant),
        functions: functionsHere,
        plugs: threadPlugs,
      }),
    ports,
    now,
    newId: () => timeOrderedId(now()),
    logger,
    ...(partition && {
      partition: {
        number: partition.number,
        count: partition.count,
        ask: (_tenant, at, question) => partition.ask(at, { of: 'rules', question }),
      },
    }),
    resources: () => registry.resources && resourceFinder(registry.resources),
    templateWritten: (tenant, template) => registry.work?.templateWritten(tenant, template),
  })
  registry.rules = service
  registry.runner = runner
  registry.running = {
    runner: durable,
    refusedDescendants: () => budgets.reduce((sum, { refused }) => sum + refused, 0),
  }
  if (relay !== undefined) registry.relay = relay
  return {
    trouble: () => durable.trouble,
    warnings: () => [...budgets.flatMap((budget) => budget.loops()), ...leadWarnings(durable.leads)],
    start: (closing) => service.start(closing),
    async stop() {
      await service.stop()
      await durable.close()
    },
  }
}

/** ms by which tasks may be ahead of the host's time before it is told */
const TOLD_LEAD_MS = 1_000

function leadWarnings(leads: ReadonlyMap<string, number>): readonly string[] {
  return [...leads]
    .filter(([, ms]) => ms >= TOLD_LEAD_MS)
    .map(
      ([tenant, ms]) =>
        `tasks of tenant ${tenant} are ${Math.round(ms / 1000)} s ahead of this host's time, as their log is; they lose a tenth of the time that passes until both are the same`,
    )
}

/** ms between two looks for what other partitions handed over, which they tell besides */
const RELAY_LOOK_MS = 500

function relayOf(partition: HostedPartition, intake: TaskRunner['intake'], storage: Storage, logger: Logger): Relay {
  const { tenant, number, count } = partition
  return new Relay({
    tenant,
    store: storage.tenant(tenant),
    partition: { number, count },
    intake,
    handed: (to) => partition.handed(to),
    every: (work) => machineTimers.every(RELAY_LOOK_MS, work),
    logger,
  })
}

/** The same, which takes messages of all partitions. */
function withIntake(runner: TaskRunner, intake: TaskRunner['intake']): TaskRunner {
  return {
    plan: (change) => runner.plan(change),
    losses: (task) => runner.losses(task),
    resume: (tasks) => runner.resume(tasks),
    nodes: runner.nodes,
    intake,
    reports: runner.reports,
  }
}

function outboundOf({ allowUrl }: ServiceDependencies['config']): Pick<BuiltinOptions, 'outbound'> {
  return { outbound: { transport: nodeTransport({ allow: allowUrl }) } }
}

/** by plug: those that all tenants have are there once */
const uncheckedPlugs = new WeakMap<Plug, Plug>()

/** What is stored was checked when it was saved: it goes on also when a service has become stricter since. */
function unchecked(plug: Plug): Plug {
  if (plug.check === undefined) return plug
  const known = uncheckedPlugs.get(plug)
  if (known !== undefined) return known
  const made = { ...plug, check: undefined }
  uncheckedPlugs.set(plug, made)
  return made
}

/** What follows from a list, made anew when it is another one: who asks again gets the same. */
function derived<T>(source: () => readonly T[], make: (list: readonly T[]) => readonly Plug[]): () => readonly Plug[] {
  let of = source()
  let made = make(of)
  return () => {
    if (source() !== of) {
      of = source()
      made = make(of)
    }
    return made
  }
}

/** Two lists as one: the same as long as both are. */
function joined(one: () => readonly Plug[], other: () => readonly Plug[]): () => readonly Plug[] {
  let of = other()
  let to = one()
  let made = [...to, ...of]
  return () => {
    if (other() !== of || one() !== to) {
      of = other()
      to = one()
      made = [...to, ...of]
    }
    return made
  }
}

const NO_FUNCTIONS: readonly DeployedPlug[] = []

/** The machine's timers by the host's clock. */
class HostScheduler implements SchedulerLike {
  readonly now: () => number

  constructor(now: () => number) {
    this.now = now
  }

  schedule<T>(work: (this: SchedulerAction<T>, state?: T) => void, delay?: number, state?: T): Subscription {
    return asyncScheduler.schedule(work, delay, state)
  }
}

/** What the engine of a tenant asks of its services. A host without a vault has no secrets. */
function enginePorts(tenant: string, registry: ServiceRegistry, partition: HostedPartition | undefined): Ports {
  return {
    latestValue: latestValue(tenant, () => registry.broker),
    metadata: metadataOf(tenant, () => partition?.first?.resources ?? registry.resources),
    secret: async (key) => (await registry.vault?.open([key]))?.values.get(key),
  }
}
