/** Runs a rule over the messages of a request in virtual time. Returns the events and stores nothing. */
import type { EngineEvent, Rule, Template } from '#core'
import { explained } from '#core/sentences'
import { instantOf } from '#core/spi'
import { AppError } from '#kernel'
import { machineTimers } from '#platform'
import { dryPlugs } from './dry-plugs.ts'
import type { RunDependencies } from './template-run.ts'
import type { ReadSimulation, SimulationResult } from './tools-schema.ts'
import { VirtualRun } from './virtual-run.ts'

const MAX_EVENTS = 10_000

export async function simulateRequest(
  context: RunDependencies,
  rule: Rule | Template,
  request: ReadSimulation,
): Promise<SimulationResult> {
  const { messages = [], resource, variables, settings, metadata, seed } = request
  const times = messages.map((message, i) => instantOf(message, i + 1))
  const from = request.from ?? times[0] ?? context.now()
  const until = request.until ?? times.at(-1) ?? from
  if (until < from) {
    throw new AppError('VALIDATION', `/until <- until is before from (${new Date(from).toISOString()}); swap them`)
  }
  const events: EngineEvent[] = []
  let left = 0
  const spared = new Set<string>()
  const run = new VirtualRun({
    plugs: request.executeActuators === true ? context.registry.list() : dryPlugs(context.registry.list(), spared),
    ports: context.ports,
    from,
    ...(metadata && { metadata }),
    ...(seed !== undefined && { seed }),
    onEvent: (event) => {
      if (events.length < MAX_EVENTS) events.push(event)
      else left++
    },
  })
  try {
    const task = await run.start(rule, {
      ...settings,
      // services act only once per id, so a run with effects needs a unique id
      id: request.executeActuators === true ? machineTimers.newId() : 'task',
      ...(resource !== undefined && { resource }),
      ...(variables && { variables: { ...settings?.variables, ...variables } }),
    })
    let late = 0
    for (const [i, message] of messages.entries()) {
      const time = times[i] ?? run.now
      if (time < run.now) late++
      await run.advanceTo(time)
      run.receive(message)
    }
    await run.advanceTo(until)
    return {
      messages: messages.length,
      late,
      from: new Date(from).toISOString(),
      until: new Date(run.now).toISOString(),
      events,
      left,
      simulated: [...spared].toSorted(),
      ...(request.explain !== undefined && { explanation: explained(task.explain(request.explain)) }),
    }
  } finally {
    await run.close()
  }
}
