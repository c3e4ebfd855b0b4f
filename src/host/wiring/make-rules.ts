/** Makes the rules service of a host, and what runs its tasks. */
import { asyncScheduler, type SchedulerAction, type SchedulerLike, type Subscription } from 'rxjs'
import { type BuiltinOptions, builtins, createBuiltins } from '#plugins'
import type { VaultService } from '#services/vault/contract'
import { DescendantBudget, withinBudget } from './descendant-budget.ts'
import { resourceFinder } from './resource-filter.ts'
import { metadataOf, resourceBatches } from './resources.ts'
import { createRegistry, type Ports } from '#core'
import { generatorHere } from '#platform/generate'
import { perTenant } from '#kernel'
import { machineTimers } from '#platform'
import type { Plug } from '#plug'
import type { DeployedPlug } from '#services/functions/contract'
import { createRulesService, type DurableOptions, openDurableRunner, Relay, type TaskRunner } from '#services/rules'
import { plugServices } from './plug-services.ts'
import { functionPlug } from './function-plugs.ts'
import { hostedRules } from './rules.ts'
import type { HostedService } from '../hosted-service.ts'
import type { MakeService, ServiceDependencies } from './service-dependencies.ts'
import { scriptInterpreter } from '../work/script-interpreter.ts'
import { ThreadPlugs } from '../work/thread-plugs.ts'
import { threadedRuns } from '../work/threaded-runs.ts'
import { timeOrderedId } from '../time-ordered-id.ts'
import { nodeTransport } from '../transport/node-transport.ts'
import { latestValue } from './broker.ts'
import type { ServiceRegistry } from './service-registry.ts'

/** Timers of a fleet wake the process at most 100 times a second. */
const REST_MS = 10

/** The rules service over the durable runner, with all built-in plugs and those of the host. Throws `PLUG`. */
export const makeRules: MakeService = (parts) => makeRulesWith([], parts)

/** The same with more plugs, and with states that are stored otherwise. */
export function makeRulesWith(
  more: readonly Plug[],
  parts: ServiceDependencies,
  checkpoints: DurableOptions['checkpoints'] = {},
): HostedService {
  const { storage, gauges, now, atLeast, serviceRegistry, logger, config, reached, partition, threads } = parts
  const budgets: DescendantBudget[] = []
  const servicesOf = perTenant((tenant) => {
    const warn = (text: string): void => logger.warn(text)
    const budget = new DescendantBudget({ tenant, most: config.maxDescendants, now, warn })
    budgets.push(budget)
    const own = plugServices(tenant, serviceRegistry, machineTimers.later)
    return withinBudget(partition?.ports(own) ?? own, budget)
  })
  const deployed = (tenant: string) => () => serviceRegistry.functions?.plugs(tenant) ?? NO_FUNCTIONS
  const functions = perTenant((tenant) =>
    derived(deployed(tenant), (list) => list.map((one) => functionPlug(tenant, one, () => serviceRegistry.functions))),
  )
  // said at once, not when a tenant asks for the first time
  createRegistry([...builtins, ...more, ...parts.plugs()])
  const plugsWith = (options: BuiltinOptions) =>
    perTenant((tenant) => {
      const equipped = createBuiltins({ ...outboundOf(config), services: servicesOf(tenant), ...options })
      const given = derived(parts.plugs, (list) => [...equipped, ...more, ...list])
      return joined(given, () => functions(tenant)())
    })
  // tasks want their answers at once; who asks for a run can wait for it, and others need not
  const plugs = plugsWith({ clock: machineTimers.elapsed })
  const directPlugs = plugsWith({ interpreter: scriptInterpreter(threads) })
  const uncheckedOf = perTenant((tenant) => derived(plugs(tenant), (all) => all.map(unchecked)))
  const ports = perTenant((tenant) => enginePorts(tenant, serviceRegistry))
  const generate = generatorHere()
  const durable = openDurableRunner({
    store: (tenant) => storage.tenant(tenant),
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
  const relay = partition && relayOf(partition, durable.intake, parts)
  const runner = relay === undefined ? durable : withIntake(durable, relay.intake)
  gauges.watchQueue('inputs', () => durable.queued)
  gauges.watchQueue('task-inputs', () => durable.waiting)
  gauges.watchWork(() => durable.counts)
  for (const reason of ['late', 'duplicate', 'skewed', 'forgotten'] as const) {
    gauges.watchReadings(reason, () => durable.counts[reason] ?? 0)
  }
  gauges.watchWays(() => durable.stats)
  gauges.watchTotal('refused-descendants', () => budgets.reduce((sum, { refused }) => sum + refused, 0))
  const threadPlugs = new ThreadPlugs({
    plugs: () => [...more, ...parts.plugs()],
    modules: more.length > 0 ? undefined : parts.plugModules,
    logger,
  })
  const own = createRulesService({
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
        functions: () => serviceRegistry.functions,
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
    resources: () => serviceRegistry.resources && resourceFinder(serviceRegistry.resources),
    templateWritten: (tenant, template) => serviceRegistry.work?.templateWritten(tenant, template),
  })
  const service = reached('rules', own)
  serviceRegistry.rules = service
  serviceRegistry.runner = runner
  if (relay !== undefined) serviceRegistry.relay = relay
  return hostedRules(service, durable, gauges, {
    warnings: () => [...budgets.flatMap((budget) => budget.loops()), ...leadWarnings(durable.leads)],
    otherBatches: () => serviceRegistry.resources && resourceBatches(serviceRegistry.resources),
  })
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

function relayOf(
  partition: NonNullable<ServiceDependencies['partition']>,
  intake: TaskRunner['intake'],
  { storage, logger }: ServiceDependencies,
): Relay {
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

/** What the engine of a tenant asks of the services of this host. */
function enginePorts(tenant: string, serviceRegistry: ServiceRegistry): Ports {
  return {
    latestValue: latestValue(tenant, () => serviceRegistry.broker),
    metadata: metadataOf(tenant, () => serviceRegistry.resources),
    secret: secretOf(tenant, () => serviceRegistry.vault),
  }
}

/** Of a tenant; `vault` is asked at each call. A host without one has no secrets. */
function secretOf(tenant: string, vault: () => VaultService | undefined): NonNullable<Ports['secret']> {
  return async (key) => (await vault()?.open(tenant, [key]))?.values.get(key)
}
