import { parseText, type ParsedText } from './binding.ts'
import { nearest } from './nearest.ts'
import { scanSegments, unexpected, type Fault } from './path.ts'
import { HELPERS, type TemplateHelper } from './template-helpers.ts'
import { lexTemplate } from './template-lexer.ts'

/** A value named in a template: `label.path`, `this.x`, `@index`, `GLOBAL.x`, `RESOURCE`, `META.$.key` ... */
export interface Reference {
  readonly text: string
  readonly segments: readonly string[]
  /** inside `{{#each}}`, where fields of the item come first */
  readonly inLoop: boolean
}

export type Operand =
  | { readonly kind: 'reference'; readonly reference: Reference }
  | { readonly kind: 'literal'; readonly value: string | number }

export type TemplateNode =
  | { readonly kind: 'text'; readonly parsed: ParsedText }
  | { readonly kind: 'value'; readonly reference: Reference }
  | { readonly kind: 'call'; readonly helper: TemplateHelper; readonly operands: readonly Operand[] }
  | {
      readonly kind: 'each' | 'if'
      readonly subject: Reference
      readonly body: readonly TemplateNode[]
      readonly otherwise: readonly TemplateNode[]
    }

export interface ParsedTemplate {
  readonly nodes: readonly TemplateNode[]
  readonly references: readonly Reference[]
  readonly faults: readonly Fault[]
}

/** Blocks inside blocks beyond this are refused. */
const MAX_BLOCK_DEPTH = 16

interface OpenBlock {
  readonly kind: 'each' | 'if'
  readonly text: string
  readonly subject: Reference | undefined
  readonly body: TemplateNode[]
  readonly otherwise: TemplateNode[]
  inElse: boolean
}

/** Reads a template; everything that cannot be read is among `faults`. Never throws. */
export function parseTemplate(text: string): ParsedTemplate {
  const lexed = lexTemplate(text)
  const parser = new TemplateParser([...lexed.faults])
  for (const token of lexed.tokens) {
    if (token.kind === 'text') parser.text(token.text)
    else parser.tag(token.text, token.words)
  }
  return parser.end()
}

class TemplateParser {
  private readonly faults: Fault[]
  private readonly references: Reference[] = []
  private readonly nodes: TemplateNode[] = []
  private readonly blocks: OpenBlock[] = []
  private loops = 0

  constructor(faults: Fault[]) {
    this.faults = faults
  }

  text(text: string): void {
    const parsed = parseText(text)
    for (const fault of parsed.faults) this.faults.push(fault)
    this.add({ kind: 'text', parsed })
  }

  tag(text: string, words: readonly string[]): void {
    const [first, ...rest] = words
    if (first === undefined) this.fault(text, 'names nothing', 'write {{<node label>.<field>}}')
    else if (first.startsWith('#')) this.open(text, first.slice(1), rest)
    else if (first.startsWith('/')) this.close(text, first.slice(1))
    else if (first === 'else') this.otherwise(text, rest)
    else if (rest.length === 0) this.value(text, first)
    else this.call(text, first, rest)
  }

  end(): ParsedTemplate {
    for (const block of this.blocks) this.fault(block.text, 'is never closed', `close it with {{/${block.kind}}}`)
    return { nodes: this.nodes, references: this.references, faults: this.faults }
  }

  private open(text: string, kind: string, rest: readonly string[]): void {
    const [subject, ...extra] = rest
    if (kind !== 'each' && kind !== 'if') {
      this.fault(text, `begins an unknown block "${kind}"`, 'there are {{#each path}} and {{#if path}}')
      return
    }
    if (subject === undefined || extra.length > 0) {
      this.fault(text, 'needs one path', `write {{#${kind} <node label>.<field>}}`)
    } else if (this.blocks.length >= MAX_BLOCK_DEPTH) {
      this.fault(text, `is inside more than ${MAX_BLOCK_DEPTH} blocks`, 'use fewer blocks inside each other')
    }
    // a faulty block is opened all the same, so that its end is not reported too; without a subject it is dropped
    const usable = subject !== undefined && this.blocks.length < MAX_BLOCK_DEPTH
    const reference = usable ? this.reference(text, subject) : undefined
    if (kind === 'each') this.loops++
    this.blocks.push({ kind, text, subject: reference, body: [], otherwise: [], inElse: false })
  }

  private close(text: string, kind: string): void {
    const block = this.blocks.at(-1)
    if (block?.kind !== kind) {
      const right = block
        ? `close ${block.text} first, with {{/${block.kind}}}`
        : `remove it, or begin with {{#${kind} ...}}`
      this.fault(text, 'closes a block that is not open', right)
      return
    }
    this.blocks.pop()
    if (kind === 'each') this.loops--
    const { body, otherwise, subject } = block
    if (subject) this.add({ kind: block.kind, subject, body, otherwise })
  }

  private otherwise(text: string, rest: readonly string[]): void {
    const block = this.blocks.at(-1)
    if (rest.length > 0) this.fault(text, 'has words after else', 'put an {{#if}} of its own inside {{else}}')
    else if (!block) this.fault(text, 'stands outside a block', 'use it inside {{#if}} or {{#each}}')
    else if (block.inElse) this.fault(text, 'is the second else of its block', 'remove one')
    else block.inElse = true
  }

  private value(text: string, word: string): void {
    const operand = this.operand(text, word)
    if (operand?.kind === 'reference') this.add({ kind: 'value', reference: operand.reference })
    else if (operand) this.add({ kind: 'text', parsed: { parts: [String(operand.value)], faults: [] } })
  }

  private call(text: string, name: string, words: readonly string[]): void {
    const entry = HELPERS.get(name)
    if (!entry) {
      const names = [...HELPERS.keys()]
      const close = nearest(name, names)
      const hint = `there are ${names.join(', ')}`
      this.fault(
        text,
        `calls an unknown helper "${name}"`,
        close === undefined ? hint : `did you mean "${close}"? ${hint}`,
      )
      return
    }
    const [min, max] = entry.arguments
    if (words.length < min || words.length > max) {
      this.fault(text, `gives "${name}" ${words.length} arguments`, `write ${entry.usage}`)
      return
    }
    const operands = words.map((word) => this.operand(text, word)).filter((operand) => operand !== undefined)
    if (operands.length === words.length) this.add({ kind: 'call', helper: entry.helper, operands })
  }

  private operand(text: string, word: string): Operand | undefined {
    const quoted = /^(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)')$/s.exec(word)
    if (quoted) {
      return { kind: 'literal', value: (quoted[1] ?? quoted[2] ?? '').replaceAll(/\\(.)/gs, '$1') }
    }
    if (/^-?\d+(?:\.\d+)?$/.test(word)) return { kind: 'literal', value: Number(word) }
    const reference = this.reference(text, word)
    return reference && { kind: 'reference', reference }
  }

  private reference(text: string, word: string): Reference | undefined {
    const scanned = scanSegments(word, 0)
    const fault = scanned.fault ?? (scanned.end < word.length ? unexpected(word.charAt(scanned.end)) : undefined)
    if (fault) {
      this.fault(text, fault.message, fault.suggestion)
      return undefined
    }
    const inLoop = this.loops > 0
    const [first = '', ...rest] = scanned.segments
    const problem = referenceFault(first, rest, inLoop)
    if (problem) this.fault(text, problem.message, problem.suggestion)
    const reference = { text, segments: scanned.segments, inLoop }
    this.references.push(reference)
    return reference
  }

  private add(node: TemplateNode): void {
    const block = this.blocks.at(-1)
    if (!block) this.nodes.push(node)
    else if (block.inElse) block.otherwise.push(node)
    else block.body.push(node)
  }

  private fault(text: string, message: string, suggestion: string): void {
    this.faults.push({ message: `"${text.slice(0, 60)}" ${message}`, suggestion })
  }
}

function referenceFault(first: string, rest: readonly string[], inLoop: boolean): Fault | undefined {
  if (first === 'this' || first.startsWith('@')) {
    if (!inLoop)
      return { message: `uses ${first} outside {{#each}}`, suggestion: 'name the node: {{<node label>.<field>}}' }
    const known = first === 'this' || ((first === '@index' || first === '@key') && rest.length === 0)
    return known ? undefined : { message: `uses an unknown ${first}`, suggestion: 'there are @index and @key' }
  }
  if (first === 'GLOBAL' && rest.length === 0) {
    return { message: 'does not name a value of the message', suggestion: 'write {{GLOBAL.<name>}}' }
  }
  if (first === 'META' && (rest[0] !== '$' || rest.length < 2)) {
    return { message: 'does not name a metadata key', suggestion: 'write {{META.$.<key>}}' }
  }
  return undefined
}
