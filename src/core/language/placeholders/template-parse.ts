/** Parses the tags of a template to a tree of blocks, and reports all faults at once. */
import { ExpressionReader, type Expression, type Operand, type Reference } from './template-expression.ts'
import type { Fault } from './path.ts'
import { lexTemplate, type Strip, type Tag } from './template-lexer.ts'
import type { Name } from './template-name.ts'
import type { Block, BlockKind, Content, Program, TemplateNode } from './template-tree.ts'
import { stripWhitespace } from './template-whitespace.ts'

/** A name with the position of its tag and context: see `pathOf` in handlebars.ts. */
export interface FoundReference extends Reference {
  readonly text: string
  /** number of blocks around the name that may change the context */
  readonly contexts: number
}

export interface ParsedTemplate {
  readonly program: Program
  readonly texts: readonly Content[]
  readonly references: readonly FoundReference[]
  readonly faults: readonly Fault[]
}

/** Maximum number of nested blocks, and of links in `else if` chains that are open at once. */
const MAX_BLOCK_DEPTH = 16
const MAX_CHAIN = 100
const MAX_FAULTS = 100

/** Parses a template; `faults` lists everything invalid. Never throws. */
export function parseTemplate(text: string): ParsedTemplate {
  const lexed = lexTemplate(text)
  const parser = new TemplateParser([...lexed.faults])
  for (const token of lexed.tokens) {
    if (parser.isTooDeep) break
    if (token.kind === 'text') parser.text(token.text)
    else parser.tag(token.tag)
  }
  return parser.end()
}

interface Link {
  readonly tag: Tag
  readonly head: ReadHead | undefined
  readonly body: TemplateNode[]
}

interface ReadHead {
  readonly kind: BlockKind
  readonly expression: Expression
  readonly subject: Operand
}

interface OpenBlock {
  readonly tag: Tag
  /** the name that the closing tag must repeat */
  readonly text: string
  readonly links: Link[]
  otherwise: { readonly tag: Tag; readonly body: TemplateNode[] } | undefined
}

class TemplateParser {
  readonly #faults: Fault[]
  readonly #references: FoundReference[] = []
  readonly #nodes: TemplateNode[] = []
  readonly #blocks: OpenBlock[] = []
  readonly #texts: Content[] = []
  #links = 0
  isTooDeep = false

  constructor(faults: Fault[]) {
    this.#faults = faults
  }

  text(text: string): void {
    const content: Content = { kind: 'text', original: text, value: text, leftStripped: false, rightStripped: false }
    this.#texts.push(content)
    this.#add(content)
  }

  tag(tag: Tag): void {
    switch (tag.kind) {
      case 'comment':
        return this.#add({ kind: 'comment', strip: tag.strip })
      case 'value':
      case 'raw':
        return this.#value(tag)
      case 'open':
      case 'inverted':
        return this.#open(tag)
      case 'else':
        return this.#otherwise(tag)
      case 'close':
        return this.#close(tag)
    }
  }

  end(): ParsedTemplate {
    if (!this.isTooDeep)
      for (const { tag, text } of this.#blocks) this.#fault(tag, 'is never closed', `close it with {{/${text}}}`)
    const program = { body: this.#nodes, chained: false }
    if (this.#faults.length === 0) stripWhitespace(program)
    return { program, texts: this.#texts, references: this.#references, faults: this.#faults }
  }

  #value(tag: Tag): void {
    const reader = this.#reader(tag)
    const expression = reader.read()
    if (expression === undefined) return
    const { head, operands, bare, includeZero, names } = expression
    if (includeZero !== undefined || names.length > 0) {
      return this.#fault(tag, 'has options that only blocks support', 'write {{<name>}} or {{<helper> <values>}}')
    }
    const isPlain = bare && (head.scoped || !RESERVED_WORDS.has(head.text))
    const operand = isPlain ? this.#plain(tag, head) : reader.call(head, operands)
    if (operand) this.#add({ kind: 'value', operand, escaped: tag.kind === 'value', strip: tag.strip })
  }

  #plain(tag: Tag, head: Name): Operand | undefined {
    const reference = this.#refer(tag, head)
    return reference && { kind: 'reference', reference }
  }

  #open(tag: Tag): void {
    // a faulty block is opened nevertheless, so that its end is not reported too
    const head = this.#head(tag)
    if (this.#blocks.length >= MAX_BLOCK_DEPTH) {
      this.#fault(tag, `is inside more than ${MAX_BLOCK_DEPTH} blocks`, 'nest fewer blocks')
      this.isTooDeep = true
    }
    const [word] = tag.words
    const text = word?.kind === 'name' ? word.name.text : word?.kind === 'literal' ? String(word.value) : ''
    this.#blocks.push({ tag, text, links: [{ tag, head, body: [] }], otherwise: undefined })
    this.#links++
  }

  #head(tag: Tag): ReadHead | undefined {
    const reader = this.#reader(tag)
    const expression = reader.read()
    if (expression === undefined) return undefined
    const { head, operands, bare, includeZero, names } = expression
    const kind = HELPER_BLOCKS.get(head.scoped ? '' : head.text)
    const [subject, ...more] = operands
    if (kind === undefined) {
      const asValue = bare && names.length === 0 && !RESERVED_WORDS.has(head.text)
      const subject = asValue ? this.#plain(tag, head) : undefined
      if (!asValue) {
        const known = '{{#each path}}, {{#with path}}, {{#if path}} and {{#unless path}}'
        this.#fault(tag, `begins an unknown block "${head.text}"`, `use one of ${known}`)
      }
      return subject && { kind: 'section', expression, subject }
    }
    const name = `{{#${kind} <node label>.<field>}}`
    if (subject === undefined || more.length > 0) return this.#fault(tag, 'needs one path', `write ${name}`)
    const takesNames = (kind === 'each' || kind === 'with') && tag.kind !== 'inverted'
    if (names.length > 0 && !takesNames) return this.#fault(tag, 'does not support names', 'omit as |...|')
    if (includeZero !== undefined && kind !== 'if' && kind !== 'unless') {
      return this.#fault(tag, 'has includeZero=', 'omit it: only if and unless support it')
    }
    return { kind, expression, subject }
  }

  #otherwise(tag: Tag): void {
    const block = this.#blocks.at(-1)
    const isLink = tag.words.length > 0
    if (!block) this.#fault(tag, 'is outside a block', 'use it inside a block such as {{#if}} or {{#each}}')
    else if (block.otherwise) this.#fault(tag, 'is the second else of its block', 'remove one')
    else if (!isLink) block.otherwise = { tag, body: [] }
    else if (block.tag.kind === 'inverted') {
      this.#fault(tag, 'has words after else', 'write a separate {{#if}} inside {{else}}')
    } else {
      if (this.#links - this.#blocks.length >= MAX_CHAIN) {
        this.#fault(tag, `is one of more than ${MAX_CHAIN} branches`, 'use fewer {{else if}}')
        this.isTooDeep = true
      }
      // names of a link are resolved outside the names of earlier links
      block.links.push({ tag, head: undefined, body: [] })
      this.#links++
      const head = this.#head(tag)
      block.links.splice(-1, 1, { tag, head, body: [] })
    }
  }

  #close(tag: Tag): void {
    const block = this.#blocks.at(-1)
    const [word, ...more] = tag.words
    const text = word?.kind === 'name' ? word.name.text : word?.kind === 'literal' ? String(word.value) : ''
    if (!block || block.text !== text || more.length > 0) {
      const right = block
        ? `close ${block.tag.text} first, with {{/${block.text}}}`
        : `remove it, or begin with {{#${text} ...}}`
      return this.#fault(tag, 'closes a block that is not open', right)
    }
    this.#blocks.pop()
    this.#links -= block.links.length
    const finished = finishBlock(block, tag.strip)
    if (finished) this.#add(finished)
  }

  #reader(tag: Tag): ExpressionReader {
    return new ExpressionReader(
      tag.words,
      (name) => this.#refer(tag, name),
      ({ message, suggestion }) => this.#fault(tag, message, suggestion),
    )
  }

  #refer(tag: Tag, name: Name): Reference | undefined {
    const problem = nameFault(name)
    if (problem) return this.#fault(tag, problem.message, problem.suggestion)
    const [first = ''] = name.segments
    let level = 0
    let contexts = 0
    for (const block of this.#blocks.toReversed()) {
      const { head } = block.otherwise ? {} : (block.links.at(-1) ?? {})
      if (!head || block.tag.kind === 'inverted') continue
      if (head.kind === 'each' || head.kind === 'with' || head.kind === 'section') contexts++
      const { names } = head.expression
      const index = name.scoped || name.depth > 0 ? -1 : names.indexOf(first)
      if (index >= 0) return { name, parameter: { level, index } }
      if (names.length > 0) level++
    }
    this.#references.push({ name, text: tag.text, contexts })
    return { name }
  }

  #add(node: TemplateNode): void {
    const block = this.#blocks.at(-1)
    const body = block === undefined ? this.#nodes : (block.otherwise ?? block.links.at(-1))?.body
    body?.push(node)
  }

  #fault(tag: Tag, message: string, suggestion: string): undefined {
    if (this.#faults.length < MAX_FAULTS)
      this.#faults.push({ message: `"${tag.text.slice(0, 60)}" ${message}`, suggestion })
  }
}

/** Helpers of handlebars that never name a field; `log` is not supported. */
const RESERVED_WORDS = new Set(['each', 'if', 'unless', 'with', 'lookup', 'log'])
const HELPER_BLOCKS: ReadonlyMap<string, BlockKind> = new Map([
  ['each', 'each'],
  ['if', 'if'],
  ['unless', 'unless'],
  ['with', 'with'],
])

/** Nests the links of a block from the last to the first, with strips as in handlebars. */
function finishBlock(open: OpenBlock, closeStrip: Strip): Block | undefined {
  const { otherwise } = open
  let inverse: Program | undefined = otherwise && { body: otherwise.body, chained: false }
  let inverseStrip = otherwise?.tag.strip
  let next: Block | undefined
  for (const [index, { tag, head, body }] of [...open.links.entries()].toReversed()) {
    if (head === undefined) return undefined
    const { expression, kind, subject } = head
    const strip = index === 0 ? closeStrip : (inverseStrip ?? tag.strip)
    if (next) next.closeStrip = strip
    const program = { body, chained: false }
    const isInverted = tag.kind === 'inverted'
    const block: Block = {
      kind,
      subject,
      includeZero: expression.includeZero,
      names: expression.names,
      program: isInverted ? inverse : program,
      inverse: isInverted ? program : inverse,
      openStrip: tag.strip,
      inverseStrip,
      closeStrip: strip,
    }
    if (index === 0) return block
    next = block
    inverse = { body: [block], chained: true }
    inverseStrip = tag.strip
  }
  return undefined
}

function nameFault(name: Name): Fault | undefined {
  const [first, second, third] = name.segments
  if (name.data) {
    if (first !== undefined && DATA_NAMES.includes(first)) return undefined
    const known = DATA_NAMES.map((one) => `@${one}`).join(', ')
    return { message: `uses an unknown ${name.text}`, suggestion: `use one of ${known}` }
  }
  if (name.scoped) return undefined
  if (first === 'GLOBAL' && second === undefined) {
    return { message: 'does not name a value of the message', suggestion: 'write {{GLOBAL.<name>}}' }
  }
  if (first === 'META' && (second !== '$' || third === undefined)) {
    return { message: 'does not name a metadata key', suggestion: 'write {{META.$.<key>}}' }
  }
  return undefined
}

const DATA_NAMES = ['index', 'key', 'first', 'last', 'root']
