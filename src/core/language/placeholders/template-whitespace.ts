/** Controls whitespace around tags, step by step as in handlebars. */
import type { Block, Content, Program, TemplateNode } from './template-tree.ts'

interface Effect {
  readonly left: boolean
  readonly right: boolean
  /** whether the tag is alone on a line, if the surrounding text agrees */
  readonly open: boolean
  readonly close: boolean
  readonly inline: boolean
}

export function stripWhitespace(root: Program): void {
  stripProgram(root, true)
}

function stripProgram({ body }: Program, isRoot: boolean): void {
  for (const [index, node] of body.entries()) {
    if (node.kind === 'text') continue
    const effect = effectOf(node)
    const lineBefore = endsLine(body, index, isRoot)
    const lineAfter = startsLine(body, index, isRoot)
    if (effect.right) takeFollowing(body[index + 1], true)
    if (effect.left) takePreceding(body[index - 1], true)
    if (effect.inline && lineBefore && lineAfter) {
      takeFollowing(body[index + 1], false)
      takePreceding(body[index - 1], false)
    }
    if (node.kind === 'value' || node.kind === 'comment') continue
    if (effect.open && lineBefore) {
      takeFollowing((node.program ?? node.inverse)?.body[0], false)
      takePreceding(body[index - 1], false)
    }
    if (effect.close && lineAfter) {
      takeFollowing(body[index + 1], false)
      takePreceding((node.inverse ?? node.program)?.body.at(-1), false)
    }
  }
}

function effectOf(node: Exclude<TemplateNode, Content>): Effect {
  if (node.kind !== 'value' && node.kind !== 'comment') return stripBlock(node)
  return { ...node.strip, open: false, close: false, inline: node.kind === 'comment' }
}

function stripBlock(block: Block): Effect {
  if (block.program) stripProgram(block.program, false)
  if (block.inverse) stripProgram(block.inverse, false)
  const body = (block.program ?? block.inverse)?.body ?? []
  const inverse = block.program && block.inverse
  const first = inverse && firstOfChain(inverse).body
  const last = inverse && lastOfChain(inverse).body
  const effect = {
    left: block.openStrip.left,
    right: block.closeStrip.right,
    open: startsLine(body, -1, false),
    close: endsLine(first ?? body, (first ?? body).length, false),
    inline: false,
  }
  if (block.openStrip.right) takeFollowing(body[0], true)
  if (first && last) {
    if (block.inverseStrip?.left === true) takePreceding(body.at(-1), true)
    if (block.inverseStrip?.right === true) takeFollowing(first[0], true)
    if (block.closeStrip.left) takePreceding(last.at(-1), true)
    if (endsLine(body, body.length, false) && startsLine(first, -1, false)) {
      takePreceding(body.at(-1), false)
      takeFollowing(first[0], false)
    }
  } else if (block.closeStrip.left) takePreceding(body.at(-1), true)
  return effect
}

function firstOfChain(inverse: Program): Program {
  return (inverse.chained && blockIn(inverse)?.program) || inverse
}

function lastOfChain(inverse: Program): Program {
  let last = inverse
  while (last.chained) {
    const next = blockIn(last)?.program
    if (!next) return last
    last = next
  }
  return last
}

function blockIn({ body }: Program): Block | undefined {
  const node = body.at(-1)
  return node === undefined || node.kind === 'text' || node.kind === 'value' || node.kind === 'comment'
    ? undefined
    : node
}

/** Whether the node at `index` begins a line: only whitespace follows the last line break before it. */
function endsLine(body: readonly TemplateNode[], index: number, isRoot: boolean): boolean {
  const before = body[index - 1]
  if (before === undefined) return isRoot
  if (before.kind !== 'text') return false
  const { original } = before
  const kept = original.trimEnd().length
  return original.includes('\n', kept) || (kept === 0 && isRoot && body[index - 2] === undefined)
}

function startsLine(body: readonly TemplateNode[], index: number, isRoot: boolean): boolean {
  const after = body[index + 1]
  if (after === undefined) return isRoot
  if (after.kind !== 'text') return false
  const { original } = after
  const begin = original.length - original.trimStart().length
  const lineBreak = original.indexOf('\n')
  if (lineBreak >= 0 && lineBreak < begin) return true
  return begin === original.length && isRoot && body[index + 2] === undefined
}

/** Strips leading whitespace of a text: all of it, or up to the end of the line. */
function takeFollowing(text: TemplateNode | undefined, all: boolean): void {
  if (text?.kind !== 'text' || (!all && text.rightStripped)) return
  const value = all ? text.value.trimStart() : text.value.replace(/^[ \t]*\r?\n?/, '')
  text.rightStripped = value !== text.value
  text.value = value
}

function takePreceding(text: TemplateNode | undefined, all: boolean): void {
  if (text?.kind !== 'text' || (!all && text.leftStripped)) return
  let end = text.value.length
  while (end > 0 && (text.value[end - 1] === ' ' || text.value[end - 1] === '\t')) end--
  const value = all ? text.value.trimEnd() : text.value.slice(0, end)
  text.leftStripped = value !== text.value
  text.value = value
}
