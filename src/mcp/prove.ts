/** Proves properties that are described as data, for rules with built-in plugs. */
import { createRegistry, type Rule, type Template, validateRule, validateTemplate } from '#core'
import { isTemplateDocument } from '#core/spi'
import { AppError, type Issue, isPlainObject, makeIssue, messageOf, refuse } from '#kernel'
import { createBuiltins } from '#plugins'
import type * as Kit from '#testing'
import type { ProofRequest, Proved } from './proof-schema.ts'

const MAX_LEVELS = 8
const MAX_PARTS = 200
const SECONDS = 10
const SECOND_MS = 1_000

type Data = Readonly<Record<string, unknown>>

/** Throws `VALIDATION` for an invalid rule or properties, with all problems, and `USAGE` without fast-check. */
export async function prove(request: ProofRequest): Promise<Proved> {
  const kit = await loadKit()
  const plugs = createBuiltins()
  const rule = checkedRule(request.rule, createRegistry(plugs))
  const reader = new PropertyReader(kit)
  const properties = request.properties.map((one, i) => reader.property(one as Data, `/properties/${i}`))
  if (reader.issues.length > 0) throw refuse('the proof', reader.issues)
  const { metrics, values } = await inputsOf(kit, request)
  const { resource, variables, length, seconds = SECONDS } = request
  try {
    const proof = await kit.proveRule(
      rule,
      properties.flatMap((one) => one ?? []),
      {
        plugs,
        metrics,
        values,
        time: seconds * SECOND_MS,
        ...(resource !== undefined && { resource }),
        ...(variables && { variables }),
        ...(length !== undefined && { length }),
      },
    )
    const { properties: names, length: done, isComplete, states } = proof
    return { holds: true, properties: names, length: done, isComplete, states }
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'PROPERTY') throw error
    const failing = error instanceof kit.PropertyError ? error.failing : undefined
    return { holds: false, problem: error.message, messages: failing?.messages ?? [] }
  }
}

async function loadKit(): Promise<typeof Kit> {
  try {
    return await import('#testing')
  } catch (error) {
    throw new AppError('USAGE', `proofs need the package fast-check: npm install fast-check (${messageOf(error)})`)
  }
}

function checkedRule(document: unknown, plugs: Parameters<typeof validateRule>[1]): Rule | Template {
  const { rule, issues } = isTemplateDocument(document)
    ? withRule(validateTemplate(document, plugs))
    : validateRule(document, plugs)
  if (rule === undefined) throw refuse('the rule', issues)
  return rule
}

function withRule({ template, issues }: ReturnType<typeof validateTemplate>): {
  readonly rule: Template | undefined
  readonly issues: Issue[]
} {
  return { rule: template, issues }
}

async function inputsOf(kit: typeof Kit, { metrics }: ProofRequest) {
  const { default: fc } = await import('fast-check')
  const generators: Record<string, ReturnType<typeof fc.constant<unknown>>> = {}
  const values: Record<string, readonly unknown[]> = {}
  for (const [name, of] of Object.entries(metrics)) {
    if ('values' in of) {
      values[name] = of.values
      generators[name] = fc.constantFrom<unknown>(...of.values)
    } else generators[name] = kit.readings(of.min, of.max)
  }
  return { metrics: generators as Kit.Metrics, values }
}

class PropertyReader {
  readonly issues: Issue[] = []
  readonly #kit: typeof Kit
  #parts = 0

  constructor(kit: typeof Kit) {
    this.#kit = kit
  }

  property(given: Data, path: string): Kit.RuleProperty | undefined {
    const { always, never, leadsTo, neverMoreThan, neverSilentFor } = this.#kit
    const { atMost, neverSilentFor: silence, leadsTo: leads } = given
    if ('always' in given) return this.#with([given['always']], `${path}/always`, ([one]) => one && always(one))
    if ('never' in given) return this.#with([given['never']], `${path}/never`, ([one]) => one && never(one))
    if (isPlainObject(atMost)) {
      const { firings, within, node } = atMost as { firings: number; within: string; node?: string }
      return neverMoreThan(firings, { within, ...(node !== undefined && { node }) })
    }
    if (isPlainObject(silence)) {
      const { longest, node, while: during } = silence as { longest: string; node?: string; while?: unknown }
      const condition = during === undefined ? undefined : this.#condition(during, `${path}/neverSilentFor/while`, 0)
      return neverSilentFor(longest, { ...(node !== undefined && { node }), ...(condition && { while: condition }) })
    }
    const { first, then, within } = (leads ?? {}) as { first: unknown; then: unknown; within: string }
    return this.#with(
      [first, then],
      `${path}/leadsTo`,
      ([one, other]) => one && other && leadsTo(one, other, { within }),
    )
  }

  #with<T>(
    given: readonly unknown[],
    path: string,
    make: (conditions: readonly (Kit.Condition | undefined)[]) => T | undefined,
  ): T | undefined {
    return make(given.map((one) => this.#condition(one, path, 0)))
  }

  #condition(given: unknown, path: string, level: number): Kit.Condition | undefined {
    const { and, becomes, ends, fires, implies, inState, isUnknown, not, or, recently } = this.#kit
    const keys = isPlainObject(given) ? Object.keys(given) : []
    const [key = ''] = keys
    const value = isPlainObject(given) ? given[key] : undefined
    if (keys.length !== 1) return this.#wrong(path, 'a condition has exactly one key')
    if (level > MAX_LEVELS || ++this.#parts > MAX_PARTS)
      return this.#wrong(path, `conditions have at most ${MAX_LEVELS} levels and ${MAX_PARTS} parts`)
    const at = `${path}/${key}`
    const inner = (one: unknown): Kit.Condition | undefined => this.#condition(one, at, level + 1)
    const all = (): readonly Kit.Condition[] => (Array.isArray(value) ? value : []).flatMap((one) => inner(one) ?? [])
    switch (key) {
      case 'fires':
        return typeof value === 'string' ? fires(value) : this.#wrong(at, 'write the label of a node')
      case 'unknown':
        return typeof value === 'string' ? isUnknown(value) : this.#wrong(at, 'write the label of a node')
      case 'state':
        return isState(value) ? inState(value.node, ...value.is) : this.#wrong(at, 'write { "node": ..., "is": [...] }')
      case 'reads':
        return this.#reads(value, at)
      case 'all':
        return and(...all())
      case 'any':
        return or(...all())
      case 'not':
        return applied(not, inner(value))
      case 'becomes':
        return applied(becomes, inner(value))
      case 'ends':
        return applied(ends, inner(value))
      case 'implies': {
        const [first, second] = all()
        return first && second ? implies(first, second) : this.#wrong(at, 'write two conditions: [if, then]')
      }
      case 'recently': {
        const { condition, within } = isPlainObject(value) ? value : {}
        const one = inner(condition)
        if (typeof within !== 'string') return this.#wrong(at, 'write { "condition": ..., "within": "PT5M" }')
        return one && recently(one, within)
      }
      default:
        return this.#wrong(path, `"${key.slice(0, 50)}" is not a condition`)
    }
  }

  #reads(value: unknown, path: string): Kit.Condition | undefined {
    const { metric, above, below, equals } = isPlainObject(value) ? value : {}
    const { reads } = this.#kit
    if (typeof metric !== 'string') return this.#wrong(path, 'write { "metric": ..., "above": 90 }')
    if (typeof above === 'number') return reads(metric, (read) => Number(read) > above, { as: `above ${above}` })
    if (typeof below === 'number') return reads(metric, (read) => Number(read) < below, { as: `below ${below}` })
    if (equals === undefined) return this.#wrong(path, 'one of above, below and equals is missing')
    return reads(metric, (read) => read === equals, { as: JSON.stringify(equals).slice(0, 100) })
  }

  #wrong(path: string, message: string): undefined {
    this.issues.push(makeIssue('VALUE', path, message, 'see the description of conditions'))
  }
}

function applied(
  make: (condition: Kit.Condition) => Kit.Condition,
  condition: Kit.Condition | undefined,
): Kit.Condition | undefined {
  return condition && make(condition)
}

function isState(value: unknown): value is { readonly node: string; readonly is: readonly string[] } {
  if (!isPlainObject(value)) return false
  const { node, is } = value
  return typeof node === 'string' && Array.isArray(is) && is.every((one) => typeof one === 'string')
}
