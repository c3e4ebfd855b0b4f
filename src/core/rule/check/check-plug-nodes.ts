/** Checks when and how often sensors and actuators run. */
import { at, durationMs, isPlainObject, parsePlainJson, removing, shown } from '#kernel'
import { metaPath } from '../../language/placeholders/meta.ts'
import type { Sensor } from '../rule.ts'
import { checkFrequency } from './check-frequency.ts'
import type { Invocations } from './invocations.ts'
import type { Report } from './report.ts'
import { checkState, type PartialRule, naming, type PlugEntry, type RuleIndex } from './rule-index.ts'

export function checkPlugNodes(
  rule: PartialRule,
  index: RuleIndex,
  hasTick: boolean,
  invocations: Invocations,
  report: Report,
): void {
  const fired = new Set(rule.triggers?.map(({ destinationLabel }) => destinationLabel))
  for (const entry of index.plugNodes) {
    checkBackoff(entry, report)
    checkFallbackStates(entry, report)
    checkLoop(entry, report)
    if (entry.kind === 'sensor') {
      const isFired = entry.label !== '' && fired.has(entry.label)
      if (isFired) checkConditional(entry, report)
      else checkStart(entry, hasTick, report)
      checkClocks(entry, report)
      checkKeptData(entry, report)
      if (!isFired) checkFrequency('pollingPeriod', entry.node.pollingPeriod, at(entry.path, 'pollingPeriod'), report)
      // A member that joins a group begins the wait.
      if (entry.plug?.tellsSilence === true && entry.node.group === undefined)
        checkSilence(entry, isFired, invocations, report)
    } else if (entry.label !== '' && !fired.has(entry.label)) {
      report.warning(
        'START',
        entry.path,
        `actuator ${shown(entry.label)} has no trigger, so it never runs`,
        'add a trigger with it as destinationLabel, or remove it',
      )
    }
  }
}

function checkBackoff(entry: PlugEntry, report: Report): void {
  const { minBackoff, maxBackoff } = entry.node.retryConfig ?? {}
  if (minBackoff === undefined || maxBackoff === undefined || durationMs(minBackoff) <= durationMs(maxBackoff)) return
  report.error(
    'TYPE',
    at(entry.path, 'retryConfig'),
    `${naming(entry)}: minBackoff ${shown(minBackoff)} is longer than maxBackoff ${shown(maxBackoff)}`,
    'swap them',
  )
}

function checkFallbackStates(entry: PlugEntry, report: Report): void {
  const { retryConfig, timeoutState } = entry.node
  const fields = [
    ['errorState', retryConfig?.errorState, at(entry.path, 'retryConfig', 'errorState')],
    ['timeoutState', entry.kind === 'sensor' ? timeoutState : undefined, at(entry.path, 'timeoutState')],
  ] as const
  for (const [field, state, path] of fields) {
    if (state === undefined) continue
    const effect = `${naming(entry)}: ${field} has no effect, an actuator has no states`
    if (entry.kind === 'actuator') report.warning('FIELD', path, effect, { text: 'omit it', fix: removing })
    else checkState(state, entry, path, `${naming(entry)}: ${field}`, report)
  }
}

function checkLoop(entry: PlugEntry, report: Report): void {
  const { loopDef } = entry.node
  if (loopDef === undefined || loopDef.includes('${') || metaPath(loopDef) || isArrayOfObjects(loopDef)) return
  report.error(
    'TYPE',
    at(entry.path, 'loopDef'),
    `${naming(entry)}: loopDef ${shown(loopDef)} is not a JSON array of objects`,
    'write text such as [{"id": 1}, {"id": 2}], or a placeholder for such text',
  )
}

function isArrayOfObjects(text: string): boolean {
  try {
    const value = parsePlainJson(text)
    return Array.isArray(value) && value.every(isPlainObject)
  } catch {
    return false
  }
}

function checkKeptData(entry: PlugEntry, report: Report): void {
  if (entry.node.keepRawData !== true || entry.node.evictionTime !== undefined) return
  report.warning(
    'FIELD',
    at(entry.path, 'keepRawData'),
    `${naming(entry)}: keepRawData has no effect without an evictionTime`,
    { text: 'omit it: raw data stays until new raw data arrives', fix: removing },
  )
}

/** Checks that the destination of a trigger has no clocks, since it runs only when fired. */
function checkConditional(entry: PlugEntry, report: Report): void {
  const node: Partial<Sensor> = entry.node
  for (const field of ['pollingPeriod', 'schedule', 'tickTrigger'] as const) {
    const value = node[field]
    if (value === undefined || value === false) continue
    report.warning(
      'FIELD',
      at(entry.path, field),
      `${naming(entry)}: ${field} has no effect, because triggers run it`,
      'omit it, or remove the triggers of this node',
    )
  }
}

function checkClocks(entry: PlugEntry, report: Report): void {
  const { pollingPeriod, schedule } = entry.node
  if (pollingPeriod === undefined || schedule === undefined) return
  report.error(
    'FIELD',
    at(entry.path, 'schedule'),
    `${naming(entry)} has both pollingPeriod and schedule`,
    'keep one of them',
  )
}

/** Something must run a plug that reports missing data, since otherwise its wait never begins. */
function checkSilence(entry: PlugEntry, isFired: boolean, invocations: Invocations, report: Report): void {
  const { byAny, byClock, sources } = invocations
  if (!byAny.has(entry.label) || byClock.has(entry.label) || (isFired && sources > 1)) return
  report.warning(
    'SILENCE',
    entry.path,
    `${naming(entry)} does not detect a device that never sends, because only messages run it`,
    `add a clock to the task, such as "type": "periodic" with "frequency": 60000 (ms), or a pollingPeriod to the sensor${isFired ? ' that fires it' : ''}`,
    { nodeId: entry.label },
  )
}

function checkStart(entry: PlugEntry, hasTick: boolean, report: Report): void {
  const { pollingPeriod, schedule, dataTrigger, tickTrigger } = entry.node
  const resource = entry.node.resource ?? entry.node.group
  const channel = entry.plug?.channel
  if (channel !== undefined) {
    // neither data nor clocks run a sensor with a channel
    if (resource !== undefined) return
    const hint = `it runs on the channel ${channel} of its resource: set a resource such as "$"`
    return report.warning('START', entry.path, `${naming(entry)} never runs`, hint)
  }
  if (pollingPeriod !== undefined || schedule !== undefined) return
  if (hasTick && tickTrigger !== false) return
  // explicitly false with a resource: meant only for events and pushed states
  if (resource !== undefined && (dataTrigger !== false || tickTrigger === false)) return
  const hint = hasTick
    ? 'allow tickTrigger, or add a resource, a pollingPeriod or a trigger'
    : 'add a resource such as "$", a pollingPeriod or a trigger, or add a clock to the task'
  report.warning('START', entry.path, `${naming(entry)} never runs`, hint)
}
