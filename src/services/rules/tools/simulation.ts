/** Runs a rule over the messages of a request in virtual time. Returns the events and stores nothing. */
import type { EngineEvent, PlaybackOptions, Rule, Template } from '#core'
import { explained } from '#core/sentences'
import { instantOf, play, type PlaybackHooks } from '#core/spi'
import { AppError } from '#kernel'
import { machineTimers } from '#platform'
import { dryPlugs } from './dry-plugs.ts'
import { RunBudget } from './run-budget.ts'
import { countingScripts } from './script-work.ts'
import type { RunDependencies } from './template-run.ts'
import type { ReadSimulation, SimulationResult } from './tools-schema.ts'
import { portsForCaller } from './virtual-run.ts'

const MAX_EVENTS = 10_000

export async function simulateRequest(
  context: RunDependencies,
  rule: Rule | Template,
  request: ReadSimulation,
): Promise<SimulationResult> {
  const { messages = [], resource, variables, settings, metadata, seed, executeActuators } = request
  const times = messages.map((message, i) => instantOf(message, i + 1))
  const from = request.from ?? times[0] ?? context.now()
  const until = request.until ?? times.at(-1) ?? from
  if (until < from) {
    throw new AppError('VALIDATION', `/until <- until is before from (${new Date(from).toISOString()}); swap them`)
  }
  const events: EngineEvent[] = []
  let left = 0
  const spared = new Set<string>()
  let explanation: SimulationResult['explanation']
  let reached = from
  const budget = new RunBudget()
  const { ports, registry } = context
  const lane = {
    rule,
    onEvent: (event: EngineEvent) => {
      if (events.length < MAX_EVENTS) events.push(event)
      else left++
    },
    // services act only once per id, so a run with effects needs a unique id
    settings: { ...settings, ...(executeActuators === true && { id: machineTimers.newId() }) },
  }
  const options: PlaybackOptions = {
    plugs: executeActuators === true ? registry.list() : dryPlugs(registry.list(), spared),
    ports: portsForCaller(ports, metadata),
    messages,
    from,
    until,
    ...(resource !== undefined && { resource }),
    ...(variables && { variables }),
    ...(seed !== undefined && { seed }),
    breathe: () => budget.breathe(reached),
    patience: budget.patience,
  }
  const hooks: PlaybackHooks = {
    onStep: ({ time }) => void (reached = time),
    onEnd: ([task]) => {
      if (request.explain !== undefined) explanation = task && explained(task.explain(request.explain))
    },
  }
  const played = await countingScripts(budget.scripts, () => play([lane], options, hooks))
  return {
    messages: played.messages,
    late: played.late,
    from: new Date(from).toISOString(),
    until: new Date(played.until).toISOString(),
    events,
    left,
    simulated: [...spared].toSorted(),
    ...(explanation !== undefined && { explanation }),
  }
}
