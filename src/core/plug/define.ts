/** Defines a plug: checks its whole declaration and freezes it. */
import { AppError, describeIssue, durationMs, FORBIDDEN_KEYS, isPlainObject, type Issue, shown } from '#kernel'
import { calculationProblems } from './calculation-problems.ts'
import { CHANNEL_RULE, isChannel } from './channel.ts'
import { DOWNTIME_POLICIES } from './downtime.ts'
import { inputProblems, outputProblems } from './field-problems.ts'
import { definedFields } from './defined-fields.ts'
import { frozenCopy } from './frozen-copy.ts'
import type { DefinedFields, DefinedPlug, OutputField, Plug, PlugDefinition, PlugKind, WrittenField } from './plug.ts'
import { problem } from './problem.ts'
import { isVersion, parseVersionRange, RANGE_RULE } from './version-range.ts'

type Written = Readonly<Record<string, WrittenField>>

const NAME = /^[A-Za-z][A-Za-z0-9_-]{0,99}$/
const MAX_STATES = 1000
const MAX_RETRIES = 100
const TEXTS = ['description', 'category', 'compatible'] as const
const FUNCTIONS = ['check', 'statesOf', 'nodes', 'steps', 'prepare', 'touches'] as const
const KEYS: readonly string[] =
  'name version kind description category channel acts parameters nodes reads touches retry compatible tellsSilence downtime absorbs gathers states statesOf input output openOutput check steps calculates prepare execute'.split(
    ' ',
  )

/**
 * Checks and freezes the declaration of a plug. The types of `context.properties`, `context.prepared` and the states
 * follow from the declaration; write `prepare` before `execute` so that its result type is inferred first. The returned
 * plug shares only functions with `definition`. Throws `PLUG` with every problem in `issues`.
 */
export function definePlug<
  const Input extends Readonly<Record<string, WrittenField>>,
  const State extends string = never,
  Prepared = undefined,
  const Name extends string = string,
  const Kind extends PlugKind = PlugKind,
  const Output extends Readonly<Record<string, OutputField>> = Readonly<Record<string, OutputField>>,
  const Open extends boolean = boolean,
>(
  definition: PlugDefinition<Input, State, Prepared, Name, Kind, Output, Open>,
): DefinedPlug<Name, Kind, DefinedFields<Input>, State, Output, Open>
// The engine converts properties to the declared types first (finishProperties), so a function that requires exactly
// those types may be used where any record is accepted. Only this overload expresses that.
export function definePlug(definition: Omit<PlugDefinition, 'input'> & { input?: Written }): Plug {
  const issues = isPlainObject(definition)
    ? problemsOf(definition)
    : [problem('', 'the declaration is not an object', 'use a form such as { name, version, kind, execute }')]
  if (issues.length > 0) throw plugError(definition, issues)
  return Object.freeze({
    // absent functions are set to undefined, so that all plugs have one hidden class and calls stay fast
    parameters: undefined,
    nodes: undefined,
    touches: undefined,
    check: undefined,
    statesOf: undefined,
    steps: undefined,
    calculates: undefined,
    prepare: undefined,
    ...definition,
    ...(typeof definition.calculates === 'object' && { calculates: frozenCopy(definition.calculates) }),
    ...(definition.retry && { retry: frozenCopy(definition.retry) }),
    acts: definition.acts ?? definition.kind === 'actuator',
    states: Object.freeze([...(definition.states ?? [])]),
    input: frozenCopy(definedFields(definition.input ?? {})),
    output: frozenCopy({ ...definition.output }),
    openOutput: definition.openOutput ?? false,
  })
}

function problemsOf(definition: Readonly<Record<string, unknown>>): Issue[] {
  const {
    name,
    version,
    kind,
    execute,
    openOutput,
    acts,
    parameters,
    reads,
    tellsSilence,
    downtime,
    absorbs,
    gathers,
  } = definition
  const issues: Issue[] = []
  if (typeof name !== 'string' || !NAME.test(name) || FORBIDDEN_KEYS.has(name)) {
    issues.push(
      problem(
        '/name',
        `${shown(name)} is not a valid plug name`,
        'use a letter, then at most 99 letters, digits, _ or -',
      ),
    )
  }
  if (typeof version !== 'string' || !isVersion(version)) {
    issues.push(problem('/version', `${shown(version)} is not a valid version`, 'use major.minor.patch, such as 1.0.0'))
  }
  if (kind !== 'sensor' && kind !== 'actuator') {
    issues.push(problem('/kind', `${shown(kind)} is not a valid kind of plug`, 'use "sensor" or "actuator"'))
  }
  if (typeof execute !== 'function') {
    issues.push(problem('/execute', 'the function is missing', 'add execute(context) { ... }'))
  }
  if (openOutput !== undefined && typeof openOutput !== 'boolean') {
    issues.push(problem('/openOutput', `${shown(openOutput)} is neither true nor false`))
  }
  if (tellsSilence !== undefined && typeof tellsSilence !== 'boolean') {
    issues.push(problem('/tellsSilence', `${shown(tellsSilence)} is neither true nor false`))
  }
  if (downtime !== undefined && !DOWNTIME_POLICIES.some((policy) => policy === downtime)) {
    issues.push(problem('/downtime', `${shown(downtime)} is not restart, continue or confirm`))
  }
  if (gathers !== undefined && (gathers !== 'group' || kind !== 'sensor')) {
    issues.push(problem('/gathers', `${shown(gathers)} is not "group", or the plug is not a sensor`))
  }
  if (absorbs !== undefined && absorbs !== 'late') {
    issues.push(problem('/absorbs', `${shown(absorbs)} is not "late"`))
  }
  if (acts !== undefined && typeof acts !== 'boolean' && typeof acts !== 'function') {
    issues.push(
      problem('/acts', `${shown(acts)} is neither true nor false`, 'use true, false, or a function of the properties'),
    )
  }
  if (parameters !== undefined && typeof parameters !== 'function' && !isTextList(parameters)) {
    issues.push(
      problem(
        '/parameters',
        `${shown(parameters)} is not a list of names`,
        'use a list, or a function of the properties',
      ),
    )
  }
  if (reads !== undefined && reads !== 'message') {
    issues.push(problem('/reads', `${shown(reads)} is not "message"`, 'omit it when a call reads anything else'))
  }
  for (const key of TEXTS) {
    const value = definition[key]
    if (value !== undefined && typeof value !== 'string') issues.push(problem(`/${key}`, `${shown(value)} is not text`))
  }
  const { compatible } = definition
  if (typeof compatible === 'string' && parseVersionRange(compatible) === undefined)
    issues.push(problem('/compatible', `${shown(compatible)} is not a valid version range`, RANGE_RULE))
  for (const key of FUNCTIONS) {
    const value = definition[key]
    if (value !== undefined && typeof value !== 'function')
      issues.push(problem(`/${key}`, `${shown(value)} is not a function`))
  }
  for (const key of Object.keys(definition)) {
    if (!KEYS.includes(key))
      issues.push(problem(`/${key}`, `"${key}" is not a field of a plug`, `use ${KEYS.join(', ')}`))
  }
  issues.push(...channelProblems(kind, definition['channel']), ...stateProblems(kind, definition['states']))
  issues.push(...retryProblems(kind, definition['retry']))
  issues.push(...calculationProblems(definition['calculates'], definition['states']))
  issues.push(...inputProblems(definition['input']), ...outputProblems(definition['output']))
  return issues
}

function isTextList(value: unknown): boolean {
  return Array.isArray(value) && value.every((one) => typeof one === 'string')
}

function channelProblems(kind: unknown, channel: unknown): Issue[] {
  if (channel === undefined) return []
  if (kind === 'actuator')
    return [problem('/channel', 'an actuator cannot have a channel', 'omit it, or make the plug a sensor')]
  return isChannel(channel) ? [] : [problem('/channel', `${shown(channel)} is not a valid channel name`, CHANNEL_RULE)]
}

function retryProblems(kind: unknown, retry: unknown): Issue[] {
  if (retry === undefined) return []
  if (kind === 'sensor')
    return [
      problem('/retry', 'a sensor cannot retry by default, since its task waits', 'omit it; rules have retryConfig'),
    ]
  const form = 'use a form such as { maxRetries: 5, minBackoff: "PT1S", maxBackoff: "PT1M" }'
  if (!isPlainObject(retry)) return [problem('/retry', `${shown(retry)} is not an object`, form)]
  const { maxRetries, minBackoff, maxBackoff } = retry
  const issues: Issue[] = []
  if (!Number.isInteger(maxRetries) || Number(maxRetries) < 1 || Number(maxRetries) > MAX_RETRIES)
    issues.push(problem('/retry/maxRetries', `${shown(maxRetries)} is not a number from 1 to ${MAX_RETRIES}`, form))
  for (const [key, value] of Object.entries({ minBackoff, maxBackoff })) {
    if (!isDuration(value)) issues.push(problem(`/retry/${key}`, `${shown(value)} is not a valid duration`, form))
  }
  if (isDuration(minBackoff) && isDuration(maxBackoff) && durationMs(minBackoff) > durationMs(maxBackoff))
    issues.push(problem('/retry/minBackoff', `${shown(minBackoff)} is longer than maxBackoff`, 'swap them'))
  return issues
}

function isDuration(value: unknown): value is string {
  if (typeof value !== 'string') return false
  try {
    return durationMs(value) > 0
  } catch {
    return false
  }
}

function stateProblems(kind: unknown, states: unknown): Issue[] {
  if (states === undefined) return []
  if (!Array.isArray(states))
    return [problem('/states', `${shown(states)} is not a list of states`, 'use a form such as ["On", "Off"]')]
  if (kind === 'actuator' && states.length > 0) {
    return [problem('/states', 'an actuator cannot have states', 'omit them, or make the plug a sensor')]
  }
  if (states.length > MAX_STATES)
    return [problem('/states', `${states.length} states are too many`, `use at most ${MAX_STATES}`)]
  const seen = new Set<unknown>()
  return states.flatMap((state: unknown, index) => {
    const path = `/states/${index}`
    if (seen.has(state)) return [problem(path, `the state ${shown(state)} appears twice`)]
    seen.add(state)
    if (typeof state !== 'string' || state.trim() === '')
      return [problem(path, `${shown(state)} is not a valid state`, 'use text that is not blank')]
    if (state === '*') return [problem(path, 'the state "*" means any state in triggers', 'use another name')]
    return FORBIDDEN_KEYS.has(state) ? [problem(path, `the state "${state}" is not allowed`, 'use another name')] : []
  })
}

function plugError(definition: unknown, issues: readonly Issue[]): AppError {
  const name =
    isPlainObject(definition) && typeof definition['name'] === 'string' ? `plug "${definition['name']}"` : 'plug'
  const count = issues.length === 1 ? '1 problem' : `${issues.length} problems`
  const lines = issues.map((issue) => `\n  ${describeIssue(issue)}`)
  return new AppError('PLUG', `${name} has ${count}:${lines.join('')}`, { issues })
}
