/** Makes the rules service of a host, and what runs its tasks. */
import { asyncScheduler, type SchedulerAction, type SchedulerLike, type Subscription } from 'rxjs'
import { type BuiltinOptions, builtins, createBuiltins } from '../../plugins/index.ts'
import { DescendantBudget, withinBudget } from '../adapters/descendant-budget.ts'
import { resourceFinder } from '../adapters/resource-filter.ts'
import { resourceBatches } from '../adapters/resources.ts'
import { createRegistry } from '../core/plug/registry.ts'
import { generatorHere } from '../generate.ts'
import { perTenant } from '../kernel/by-tenant.ts'
import { machineTimers } from '../machine/timers.ts'
import type { Plug } from '../plug.ts'
import type { DeployedPlug } from '../services/functions/contract.ts'
import { openDurableRunner, type DurableOptions } from '../services/rules/durable/durable-runner.ts'
import { createRulesService } from '../services/rules/service.ts'
import { enginePorts } from './engine-ports.ts'
import { plugServices } from './plug-services.ts'
import { functionPlug } from './function-plugs.ts'
import { hostedRules } from './rules.ts'
import type { HostedService } from './hosted-service.ts'
import type { MakeService, ServiceDependencies } from './service-dependencies.ts'
import { ScriptThreads } from './script-threads.ts'
import { timeOrderedId } from './time-ordered-id.ts'
import { nodeTransport } from './transport/node-transport.ts'

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
  const { storage, gauges, now, atLeast, serviceRegistry, logger, config, reached } = parts
  const budgets: DescendantBudget[] = []
  const servicesOf = perTenant((tenant) => {
    const warn = (text: string): void => logger.warn(text)
    const budget = new DescendantBudget({ tenant, most: config.maxDescendants, now, warn })
    budgets.push(budget)
    return withinBudget(plugServices(tenant, serviceRegistry, machineTimers.later), budget)
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
  const scriptThreads = new ScriptThreads({ later: machineTimers.later })
  const directPlugs = plugsWith({ interpreter: scriptThreads })
  const uncheckedPlugs = perTenant((tenant) => derived(plugs(tenant), (all) => all.map(unchecked)))
  const ports = perTenant((tenant) => enginePorts(tenant, serviceRegistry))
  const generate = generatorHere()
  const runner = openDurableRunner({
    store: (tenant) => storage.tenant(tenant),
    plugs: (tenant) => uncheckedPlugs(tenant)(),
    ports,
    scheduler: new HostScheduler(now),
    reached: atLeast,
    restMs: REST_MS,
    checkpoints,
    timed: () => {
      const began = machineTimers.elapsed()
      return () => gauges.plugTook(machineTimers.elapsed() - began)
    },
    ...(generate && { generate }),
    logger,
  })
  gauges.watchQueue('inputs', () => runner.queued)
  gauges.watchQueue('task-inputs', () => runner.waiting)
  gauges.watchWork(() => runner.counts)
  gauges.watchWays(() => runner.stats)
  gauges.watchTotal('refused-descendants', () => budgets.reduce((sum, { refused }) => sum + refused, 0))
  const own = createRulesService({
    storage,
    runner,
    plugs: (tenant) => plugs(tenant)(),
    directPlugs: (tenant) => directPlugs(tenant)(),
    ports,
    now,
    newId: () => timeOrderedId(now()),
    logger,
    resources: () => serviceRegistry.resources && resourceFinder(serviceRegistry.resources),
    templateWritten: (tenant, template) => serviceRegistry.work?.templateWritten(tenant, template),
  })
  const service = reached('rules', own)
  serviceRegistry.rules = service
  serviceRegistry.runner = runner
  const hosted = hostedRules(service, runner, gauges, {
    warnings: () => budgets.flatMap((budget) => budget.loops()),
    otherBatches: () => serviceRegistry.resources && resourceBatches(serviceRegistry.resources),
  })
  return endingThreads(hosted, scriptThreads)
}

function outboundOf({ allowUrl }: ServiceDependencies['config']): Pick<BuiltinOptions, 'outbound'> {
  return { outbound: { transport: nodeTransport({ allow: allowUrl }) } }
}

/** The same, whose stop ends the threads too. */
function endingThreads(hosted: HostedService, threads: ScriptThreads): HostedService {
  return {
    ...hosted,
    async stop() {
      try {
        await hosted.stop()
      } finally {
        await threads.close()
      }
    },
  }
}

/** What is stored was checked when it was saved: it goes on also when a service has become stricter since. */
function unchecked(plug: Plug): Plug {
  return { ...plug, check: undefined }
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
