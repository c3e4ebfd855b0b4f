/** Checks properties of a rule over random messages. */
import { asyncScheduler } from 'rxjs'
import { AppError, messageOf } from '#kernel'
import { play, instantOf } from '#core/spi'
import { CheckCounts, type CheckReport } from './check-report.ts'
import { caseOptionsOf, casesOf, oneRule, searchTime, type Checked, type CheckOptions } from './check-options.ts'
import { labelsOf, requireLabels, runCase, type CaseOptions, type CheckedRun, type RunCase } from './checked-run.ts'
import { minimise } from './minimise.ts'
import { lengthText, instantText } from './moment-text.ts'
import { everyPlugAnswers, expectedErrors } from './properties/implicit.ts'
import { columnarAsPlain, crashesText } from './properties/repeated-runs.ts'
import { propertiesOf, type Need, type PropertyLike, type RuleProperty } from './property.ts'
import { statesOf } from './rule-paths.ts'
import { search, type Found } from './search.ts'
import { writeCase, type WrittenCase } from './write-case.ts'
import type { FiredEvent, Message } from '#core'

/** The error of `checkRule`. Its message shows the smallest failing case, or what never occurred. */
export class PropertyError extends AppError {
  /** the smallest failing case; undefined if the check was inconclusive */
  readonly failing: RunCase | undefined
  readonly report: CheckReport | undefined

  constructor(message: string, about: { failing?: RunCase; report?: CheckReport; cause?: unknown }) {
    super('PROPERTY', message, { cause: about.cause })
    this.name = 'PropertyError'
    this.failing = about.failing
    this.report = about.report
  }
}

const SHRINK_MS = 5000

/**
 * Runs a rule, or random rules, over random messages for a while, and checks properties of every run. Returns the
 * coverage. Throws a `PropertyError` (code `PROPERTY`) with the smallest case in which a property does not hold or a
 * plug fails although the stream has no fault; also if a property was inconclusive because its subject never occurred.
 * A rule that cannot start throws the errors of `engine.start`; an unknown label throws `NOT_FOUND`.
 */
export async function checkRule(
  rule: Checked,
  property: PropertyLike | readonly PropertyLike[],
  options: CheckOptions,
): Promise<CheckReport> {
  const began = asyncScheduler.now()
  const check = new Check(rule, property, options)
  await check.start()
  const seed = options.seed ?? Math.trunc(began) % 0x7fff_ffff
  const { numRuns = Number.MAX_SAFE_INTEGER, path } = options
  const found = await search(check.cases, (one) => check.fails(one), {
    seed,
    path,
    numRuns,
    time: searchTime(options),
    shrinkTime: options.shrink === false ? 0 : SHRINK_MS,
    concurrency: options.concurrency,
  })
  check.throwMisuse()
  if (found !== undefined) throw await check.failure(found)
  const report = check.counts.report(check.names, seed, asyncScheduler.now() - began)
  const missing = path === undefined ? check.unmet(report) : []
  if (missing.length > 0) {
    const lines = [
      'all properties hold, but their subjects never occurred:',
      ...missing.map((text) => `  ${text}`),
      report.toString(),
    ]
    throw new PropertyError(lines.join('\n'), { report })
  }
  options.print?.(report.toString())
  return report
}

/** Checks properties of one case, for example a saved one. Throws a `PropertyError`. */
export async function checkCase(
  one: RunCase,
  property: PropertyLike | readonly PropertyLike[],
  options: CheckOptions,
): Promise<void> {
  const check = new Check(one.rule, property, options)
  await check.start()
  try {
    await check.fails(one)
  } catch {
    check.throwMisuse()
    throw await check.failure({ failing: one, number: 1, shrinks: 0, seed: 0, path: '' })
  }
  check.throwMisuse()
}

interface Broken {
  readonly property: RuleProperty
  readonly error: unknown
  /** whether a run with crashes was checked */
  readonly restarted: boolean
}

class Check {
  readonly counts: CheckCounts
  readonly #rule: Checked
  readonly #properties: readonly RuleProperty[]
  readonly #requested: readonly RuleProperty[]
  readonly #options: CheckOptions
  readonly #caseOptions: CaseOptions
  readonly #broken = new WeakMap<RunCase, Broken>()
  /** needs that have not occurred yet */
  readonly #needs: Set<Need>
  #misuse: AppError | undefined

  constructor(rule: Checked, property: PropertyLike | readonly PropertyLike[], options: CheckOptions) {
    this.#rule = rule
    this.#options = options
    this.#caseOptions = caseOptionsOf(options)
    this.#requested = propertiesOf(property)
    const { allowErrors = false, columnar = true } = options
    this.#properties = [
      ...this.#requested,
      everyPlugAnswers(),
      ...(allowErrors === true ? [] : [expectedErrors(allowErrors === false ? [] : allowErrors, options)]),
      ...(columnar ? [columnarAsPlain()] : []),
    ]
    this.#needs = new Set(this.#requested.flatMap(({ needs = [] }) => needs))
    const one = oneRule(rule)
    const { plugs } = this.#caseOptions.preparer()
    this.counts = new CheckCounts(one, (label) => (one === undefined ? [] : statesOf(one, label, plugs)))
  }

  get cases() {
    return casesOf(this.#rule, this.#options, this.#requested)
  }

  get names(): readonly string[] {
    return this.#requested.map(({ name }) => name)
  }

  async start(): Promise<void> {
    const rule = oneRule(this.#rule)
    if (rule === undefined) return
    const known = labelsOf(rule)
    const fired = this.#options.cover === false ? {} : (this.#options.cover?.fired ?? {})
    requireLabels([...this.#requested, { labels: { destinations: Object.keys(fired) } }], known)
    const { preparer, tail: _tail, patience: _patience, generate: _generate, ...rest } = this.#caseOptions
    const hasDrawn = this.#options.variables !== undefined || this.#options.metadata !== undefined
    if (!hasDrawn) await play([{ rule }], { ...rest, plugs: [], from: 0, until: 0 }, { preparer })
  }

  async fails(one: RunCase): Promise<void> {
    if (this.#misuse !== undefined) return
    const run = await this.#run(one)
    if (run === undefined) return
    this.counts.count(run)
    for (const need of this.#needs) if (need.met(run)) this.#needs.delete(need)
    const broken = await this.#firstBroken(run, this.#properties)
    if (broken === undefined) return
    this.#broken.set(one, broken)
    throw broken.error
  }

  throwMisuse(): void {
    if (this.#misuse !== undefined) throw this.#misuse
  }

  /** Returns sentences about needs of properties that no case has met. */
  unmet({ fired, rows, states, cases }: CheckReport): readonly string[] {
    const { cover } = this.#options
    if (cover === false) return []
    const rule = oneRule(this.#rule)
    const wanted: string[] = [...this.#needs].map(({ text }) => `"${text}" was true in none of ${cases} cases`)
    const nothing = Object.values(fired).every(({ count }) => count === 0)
    if (wanted.length === 0 && cover === undefined && nothing && (rule?.triggers ?? []).length > 0)
      wanted.push(`nothing fired in ${cases} cases; send other values, or allow it with cover: false`)
    for (const [node, share] of Object.entries(cover?.fired ?? {})) {
      const met = fired[node]?.share ?? 0
      if (met < share) wanted.push(`${node} fired in ${percent(met)} of the cases; cover requires ${percent(share)}`)
    }
    const all = { row: cover?.rows === 'all' ? rows : {}, state: cover?.states === 'all' ? states : {} }
    for (const [what, of] of Object.entries(all)) {
      for (const [label, met] of Object.entries(of)) {
        for (const [text, share] of Object.entries(met))
          if (share === 0) wanted.push(`no case had the ${what} ${text} of ${label}; cover requires all`)
      }
    }
    return wanted
  }

  async failure(found: Found<RunCase>): Promise<PropertyError> {
    const first = this.#broken.get(found.failing)
    const name = first?.property.name
    const { writeTo, shrink = true } = this.#options
    const failsAsWell = (smaller: RunCase) => this.#failsAsWell(smaller, name)
    const failing = shrink ? await minimise(found.failing, failsAsWell, SHRINK_MS) : found.failing
    const broken = this.#broken.get(failing) ?? first
    const written = writeTo === undefined ? undefined : await writeCase(writeTo, failing, this.#caseOptions)
    const { number, shrinks, seed, path } = found
    const smaller = shrinks + (failing === found.failing ? 0 : 1)
    const about = [
      `"${name ?? 'the property'}" does not hold (case ${number}, minimized in ${smaller === 1 ? '1 step' : `${smaller} steps`}):`,
      `  ${messageOf(broken?.error)}`,
      ...caseLines(failing, oneRule(this.#rule) === undefined),
      ...(await this.#messageLines(failing)),
      ...(broken?.restarted === true ? [`the process is killed ${crashesText(failing.crashes)}`] : []),
      ...(path === '' ? [] : [`to repeat this case: { seed: ${seed}, path: '${path}' }`]),
      ...(written === undefined ? [] : replayLines(written)),
    ]
    return new PropertyError(about.join('\n'), { failing, cause: broken?.error })
  }

  async #failsAsWell(one: RunCase, name: string | undefined): Promise<boolean> {
    const run = await this.#run(one).catch(() => undefined)
    if (run === undefined) return false
    const broken = await this.#firstBroken(
      run,
      this.#properties.filter((property) => property.name === name),
    )
    if (broken !== undefined) this.#broken.set(one, broken)
    return broken !== undefined
  }

  /** Runs a case. If the check itself is misused, notes the error and returns undefined. */
  async #run(one: RunCase): Promise<CheckedRun | undefined> {
    try {
      return await runCase(one, this.#caseOptions)
    } catch (error) {
      if (!isMisuse(error)) throw error
      this.#misuse = error
      return undefined
    }
  }

  async #firstBroken(plain: CheckedRun, properties: readonly RuleProperty[]): Promise<Broken | undefined> {
    let restarted = false
    const run: CheckedRun = {
      ...plain,
      restarted: (how) => {
        restarted = true
        this.counts.countCrashes(plain)
        return plain.restarted(how)
      },
    }
    for (const property of properties) {
      restarted = false
      try {
        const verdict = await property.check(run)
        if (verdict === undefined || verdict === true) continue
        return { property, restarted, error: new Error(verdict === false ? 'it returned false' : verdict) }
      } catch (error) {
        if (!isMisuse(error)) return { property, restarted, error }
        this.#misuse = error
        return undefined
      }
    }
    return undefined
  }

  /** Describes the messages even if the engine throws in this case. */
  async #messageLines(failing: RunCase): Promise<readonly string[]> {
    const { messages } = failing
    const sent = [
      `messages (the clock continues for ${lengthText(this.#caseOptions.tail)}):`,
      ...messageLines(messages),
    ]
    try {
      const fired = firingLines(await runCase(failing, this.#caseOptions))
      return [...sent, ...(fired.length === 0 ? ['nothing fired'] : ['fired:', ...fired])]
    } catch {
      return sent
    }
  }
}

function caseLines({ rule, seed = 1, variables, metadata }: RunCase, isRandom: boolean): readonly string[] {
  return [
    ...(isRandom ? [`rule: ${JSON.stringify(rule)}`] : []),
    ...(seed === 1 ? [] : [`seed of the engine: ${seed}`]),
    ...(variables === undefined ? [] : [`variables: ${JSON.stringify(variables)}`]),
    ...(metadata === undefined ? [] : [`metadata: ${JSON.stringify(metadata)}`]),
  ]
}

function replayLines({ command, lacks, file }: WrittenCase): readonly string[] {
  return [
    `replay: reflexarc ${command.map(quoted).join(' ')}`,
    ...(lacks.length === 0
      ? []
      : [`  (without ${lacks.join(', ')}; ${file} contains the complete case, for checkCase)`]),
  ]
}

/** Returns whether an error is an unknown label, which is not a counterexample. */
function isMisuse(error: unknown): error is AppError {
  return error instanceof AppError && error.code === 'NOT_FOUND'
}

function percent(share: number): string {
  return `${Math.round(share * 1000) / 10} %`
}

function quoted(argument: string): string {
  return /^[\w./:@-]+$/.test(argument) ? argument : `'${argument.replaceAll("'", String.raw`'\''`)}'`
}

const MAX_MESSAGES = 50
const MAX_FIRINGS = 20

/** Formats one line per message: its number, time, resource and values, and how late it was. */
function messageLines(messages: readonly Message[]): readonly string[] {
  let clock = Number.NEGATIVE_INFINITY
  const lines = messages.map((message, i) => {
    const { resource, timestamp: _timestamp, ...values } = message
    const time = instantOf(message, i + 1)
    const late = clock > time ? `  (late by ${lengthText(clock - time)})` : ''
    clock = Math.max(clock, time)
    return `${String(i + 1).padStart(4)}  ${instantText(time)}  ${resource}  ${valuesText(values)}${late}`
  })
  return cut(lines, MAX_MESSAGES)
}

function firingLines(run: Pick<CheckedRun, 'firings'>): readonly string[] {
  return cut(run.firings().map(firingText), MAX_FIRINGS)
}

function firingText({ time, node, source, why }: FiredEvent): string {
  const { matched, to } = why?.trigger ?? { matched: 'execution' as const, to: null }
  const how =
    matched === 'execution' ? `${source} ran` : matched === 'state' ? `${source} is ${to}` : `${source} became ${to}`
  return `      ${instantText(time)}  ${node}, because ${how}`
}

function valuesText(values: Readonly<Record<string, unknown>>): string {
  const texts = Object.entries(values).map(([key, value]) => `${key} ${valueText(value)}`)
  return texts.length === 0 ? 'no values' : texts.join(', ')
}

function valueText(value: unknown): string {
  return typeof value === 'number' ? String(value) : (JSON.stringify(value) ?? String(value))
}

function cut(lines: readonly string[], most: number): readonly string[] {
  return lines.length <= most ? lines : [...lines.slice(0, most), `      and ${lines.length - most} more`]
}
