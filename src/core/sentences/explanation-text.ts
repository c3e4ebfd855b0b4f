/** Writes an explanation as sentences: what a node did or is, the chain behind it, and what keeps it from firing. */
import type { InputSummary } from '../engine/events.ts'
import type { Explanation, Obstacle, StateExplanation, TriggerExplanation } from '../task/explain.ts'
import type { NodeState, Way, Ways } from '../task/ways.ts'
import { REASONS } from './reasons.ts'
import { type ChainStep, conditionText, stateSteps, type TimeText, valuesText, whySteps } from './why-text.ts'

export interface ExplanationText {
  /** the node's action or state, and its cause; ends in a full stop like all sentences here */
  sentence: string
  /** the steps from the data to the firing, or to the state of a sensor or gate */
  chain: ChainStep[]
  /** the triggers that do not fire now, with their reasons */
  whyNot: WhyNotText[]
  /** of a gate: the requirements of each state that it does not have */
  others?: { state: string; needs: string }[]
  /** further notes: inputs that wait, sensors that never run */
  notes: string[]
}

export interface Explained extends Explanation {
  text: ExplanationText
}

/** Adds the sentences in the form that answers of the host have, with times in UTC. */
export function explained(explanation: Explanation): Explained {
  return { ...explanation, text: explanationText(explanation) }
}

export interface WhyNotText {
  source: string
  /** the condition for which the trigger waits */
  sentence: string
  reasons: ReasonText[]
  /** the smallest ways to fire it; absent when its condition holds already */
  needs?: string
}

export interface ReasonText {
  reason: Obstacle['reason']
  node: string
  name: string
  /** the reason with its end or beginning, and its details */
  sentence: string
  /** the rule of the engine behind the reason */
  rule: string
  since?: number
  until?: number
}

/** `time` writes instants; default: ISO 8601 in UTC. */
export function explanationText(explanation: Explanation, time: TimeText = isoTime): ExplanationText {
  const { state, fired, triggers, behind, neverRun = [] } = explanation
  return {
    sentence: sentenceOf(explanation, time),
    chain: state === undefined ? (fired ? whySteps(fired.why, time) : []) : stateSteps(state, undefined, time),
    whyNot: triggers.flatMap((trigger) =>
      trigger.blocked.length > 0 ? [whyNotText(explanation.node, trigger, time)] : [],
    ),
    ...(state?.others && { others: state.others.map((other) => ({ state: other.state, needs: needsText(other) })) }),
    notes: [
      ...(behind ? [`Inputs are processed up to ${time(behind.since)}; ${behind.inputs} more are waiting.`] : []),
      ...neverRun.map(({ message }) => `${message}.`),
    ],
  }
}

function isoTime(instant: number): string {
  return new Date(instant).toISOString()
}

function sentenceOf({ node, state, fired, triggers }: Explanation, time: TimeText): string {
  const firing =
    fired &&
    `${node} fired at ${time(fired.time)}, because ${[fired.why.trigger, ...(fired.why.also ?? [])].map(conditionText).join(' and ')}.`
  if (state !== undefined) return [stateSentence(node, state, time), ...(firing ? [firing] : [])].join(' ')
  if (firing !== null) return firing
  return triggers.length === 0 ? `${node} has no trigger, so nothing can fire it.` : `${node} has not fired.`
}

function stateSentence(node: string, state: StateExplanation, time: TimeText): string {
  const { value, since, sensors, gates, blocked } = state
  const from = since === undefined ? '' : ` since ${time(since)}`
  if (value === null) {
    const causes = blocked.filter(({ reason }) => reason !== 'stopped').map(({ message }) => message)
    return `${node} is unknown${from}${causes.length > 0 ? `, because ${causes.join(' and ')}` : ''}.`
  }
  const row = gates.find((gate) => gate.node === node)?.row
  const input = sensors[0]?.input
  const cause = row === undefined ? inputCause(input) : rowCause(row)
  // The input of the last observation did not begin an older state.
  if (row === undefined && input !== undefined && since !== undefined && input.time > since)
    return `${node} is ${value}${from}; at ${time(input.time)}, ${cause}.`
  return `${node} is ${value}${from}${cause === '' ? '' : `, because ${cause}`}.`
}

function rowCause(row: Readonly<Record<string, string | null>>): string {
  return joined(Object.entries(row).map(([parent, seen]) => `${parent} is ${seen ?? 'unknown'}`))
}

function inputCause(input: InputSummary | undefined): string {
  switch (input?.kind) {
    case undefined:
      return ''
    case 'data':
      return `${input.resource} sent ${valuesText(input.values ?? {})}`
    case 'tick':
      return 'the task ticked'
    case 'ownTick':
      return 'its clock ticked'
    case 'push':
      return 'the state was pushed'
    case 'run':
      return 'it was run manually'
    case 'join':
      return `${input.resource} joined its group`
    case 'leave':
      return `${input.resource} left its group`
    case 'start':
      return 'the task started'
  }
}

function whyNotText(node: string, trigger: TriggerExplanation, time: TimeText): WhyNotText {
  const { source, condition, blocked, needs } = trigger
  const isMissing = needs === null || needs.length > 0
  return {
    source,
    sentence: `${node} fires when ${condition}.`,
    reasons: blocked.map((obstacle) => reasonText(obstacle, time)),
    ...(isMissing && { needs: needsText(trigger) }),
  }
}

function reasonText({ reason, node, message, since, until }: Obstacle, time: TimeText): ReasonText {
  const { name, rule } = REASONS[reason]
  const when = until !== undefined ? ` until ${time(until)}` : since !== undefined ? ` since ${time(since)}` : ''
  return {
    reason,
    node,
    name,
    sentence: `${name}${when}: ${message}.`,
    rule,
    ...(since !== undefined && { since }),
    ...(until !== undefined && { until }),
  }
}

/** Writes all listed ways as one sentence. */
function needsText({ ways, waysLeftOut = 0 }: Ways): string {
  if (ways.length === 0) return 'No combination of sensor states leads to this.'
  const or = ways.some(({ then }) => then !== undefined) ? '; or ' : ', or '
  return `It requires ${[...ways.map(wayText), ...(waysLeftOut > 0 ? [`one of ${waysLeftOut} more ways`] : [])].join(or)}.`
}

export function wayText({ states, then = [] }: Way): string {
  return [states, then]
    .filter((step) => step.length > 0)
    .map(statesText)
    .join(', then ')
}

function statesText(states: readonly NodeState[]): string {
  return joined(states.map(({ node, state }) => `${node} ${state}`))
}

function joined(parts: readonly string[]): string {
  return parts.join(' and ')
}
