/** Reads the parts of Markdown that document tests need. */
export interface Block {
  language: string
  text: string
  /** number of the block's first line in the document */
  line: number
  /** why the block is not run, from a comment `<!-- not run: reason -->` right before it */
  notRun: string | undefined
  /**
   * what prints the block, from a comment right before it: a command (`<!-- printed by: command -->`), or the block
   * above, then empty (`<!-- printed -->`)
   */
  printedBy: string | undefined
}

/** Returns the fenced blocks of a Markdown text. */
export function fencedBlocks(markdown: string): readonly Block[] {
  const blocks: Block[] = []
  let open: { block: Block; fence: string; lines: string[] } | undefined
  let comment: string | undefined
  markdown.split('\n').forEach((line, index) => {
    const fence = /^ {0,3}(`{3,})\s*(\w*)/.exec(line)
    if (open) {
      if (fence?.[1]?.startsWith(open.fence) === true && fence[2] === '') {
        blocks.push({ ...open.block, text: open.lines.join('\n') })
        open = undefined
      } else open.lines.push(line)
    } else if (fence) {
      open = {
        block: { language: fence[2] ?? '', text: '', line: index + 2, ...readComment(comment ?? '') },
        fence: fence[1] ?? '',
        lines: [],
      }
      comment = undefined
    } else if (line.trim() !== '') comment = /^<!-- (.+) -->$/.exec(line.trim())?.[1]
  })
  if (open) throw new Error(`line ${open.block.line - 1}: this block is never closed`)
  return blocks
}

function readComment(comment: string): Pick<Block, 'notRun' | 'printedBy'> {
  const notRun = /^not run: (.+)$/.exec(comment)?.[1]
  const printedBy = comment === 'printed' ? '' : /^printed by: (.+)$/.exec(comment)?.[1]
  return { notRun, printedBy }
}

/** Returns the targets of links and images outside fenced blocks that point into the checkout, including fragments. */
export function relativeLinks(markdown: string): readonly string[] {
  return [...proseOf(markdown).matchAll(/\]\(([^)\s]+)(?:\s+"[^"]*")?\)/g)]
    .map((match) => match[1] ?? '')
    .filter((target) => !/^[a-z][a-z0-9+.-]*:/i.test(target))
}

/** Returns the fragments that links to a page may use: its headings as GitHub names them, and its own anchors. */
export function anchorsOf(markdown: string): ReadonlySet<string> {
  const prose = proseOf(markdown)
  const headings = [...prose.matchAll(/^#{1,6} (.+)$/gm)].map((match) =>
    (match[1] ?? '')
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .trim()
      .replaceAll(/\s/g, '-'),
  )
  const own = [...prose.matchAll(/<a id="([^"]+)">/g)].map((match) => match[1] ?? '')
  return new Set([...headings, ...own])
}

/** Returns a document without its fenced blocks. */
export function proseOf(markdown: string): string {
  return markdown.replaceAll(/^ {0,3}(`{3,})[^\n]*\n[\s\S]*?^ {0,3}\1`*\s*$/gm, '')
}

/** Returns the text between `<!-- name:start -->` and `<!-- name:end -->`, or undefined without such a part. */
export function markedPart(markdown: string, name: string): string | undefined {
  const start = `<!-- ${name}:start -->`
  const from = markdown.indexOf(start)
  const to = markdown.indexOf(`<!-- ${name}:end -->`)
  return from < 0 || to < from ? undefined : markdown.slice(from + start.length, to).trim()
}
