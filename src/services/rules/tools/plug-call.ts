/** Runs a plug once, as the only node of a task that is not stored. */
import type { EngineEvent, Plug, Ports, Rule, Sensor, StartSettings } from '#core'
import { AppError } from '#kernel'
import { refusalText } from '../error-body.ts'
import { GO } from './debug-rule.ts'
import { logLines } from './run-report.ts'
import type { PlugCall, PlugCause, PlugOutcome } from './tools-schema.ts'
import { VirtualRun } from './virtual-run.ts'

const GO_LABEL = 'go'
const STREAM = 'stream'
/** maximum ms of virtual time by which a plug may delay its result */
const LONGEST_DELAY = 86_400_000

/** Runs the plug. A failure of the plug and invalid properties are ordinary outcomes. */
export async function callOnce(
  plug: Plug,
  call: PlugCall,
  ports: Ports,
  now: number,
  { id, hops = 0, root }: PlugCause = {},
): Promise<PlugOutcome> {
  const events: EngineEvent[] = []
  // hops need a message to carry them
  const streamData = call.streamData ?? (hops > 0 ? {} : undefined)
  const label = plug.name === GO_LABEL ? `${plug.name}_1` : plug.name
  const resource = call.resource ?? (streamData === undefined ? undefined : STREAM)
  const settings: StartSettings = {
    name: label,
    type: streamData === undefined ? 'onetime' : 'reactive',
    ...(resource !== undefined && { resource }),
  }
  const run = new VirtualRun(ruleOf(plug, label, call, resource), settings, {
    plugs: [plug, GO],
    ports,
    from: now,
    ...(id !== undefined && { id }),
    onEvent: (event) => events.push(event),
  })
  const isResult = (event: EngineEvent): boolean => event.type === 'result' && event.node === label
  try {
    await run.start()
    const causation = { hops, ...(root !== undefined && { root }) }
    if (streamData !== undefined) run.receive({ ...streamData, resource: resource ?? STREAM }, causation)
    await run.advanceTo(now)
    for (let at = run.nextAt(); !events.some(isResult) && at !== undefined && at <= now + LONGEST_DELAY;) {
      await run.advanceTo(at)
      at = run.nextAt()
    }
  } catch (error) {
    if (!(error instanceof AppError) || error.status >= 500) throw error
    return { result: false, error: refusalText(error), log: logLines(events) }
  } finally {
    await run.close()
  }
  return outcomeOf(events, label)
}

function ruleOf(plug: Plug, label: string, { properties = {} }: PlugCall, resource: string | undefined): Rule {
  const bound = resource === undefined ? {} : { resource: '$' }
  const node = { label, name: plug.name, version: plug.version, properties, ...bound }
  if (plug.kind === 'sensor') return { sensors: [{ ...node, dataTrigger: true }] }
  const go: Sensor = { label: GO_LABEL, name: GO.name, version: GO.version, dataTrigger: true, ...bound }
  return {
    sensors: [go],
    actuators: [node],
    triggers: [{ sourceLabel: GO_LABEL, destinationLabel: label, statesTrigger: ['GO'] }],
  }
}

function outcomeOf(events: readonly EngineEvent[], label: string): PlugOutcome {
  const log = logLines(events)
  for (const event of events) {
    if (event.type !== 'result' || event.node !== label) continue
    if (!event.ok) return { result: false, error: event.error ?? 'the plug failed', log }
    return {
      result: true,
      ...(event.state !== undefined && { state: event.state }),
      ...(event.rawData !== undefined && { rawData: event.rawData }),
      ...(event.message !== undefined && { message: event.message }),
      log,
    }
  }
  return { result: false, error: 'the plug did not return in time', log }
}
