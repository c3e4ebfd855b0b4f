export interface Block {
  language: string
  text: string
  /** number of its first line in the document */
  line: number
  /** why it is not to be run, from a comment `<!-- not run: reason -->` right before it */
  notRun: string | undefined
}

/** The fenced blocks of a Markdown text. */
export function fencedBlocks(markdown: string): readonly Block[] {
  const blocks: Block[] = []
  let open: { block: Block; fence: string; lines: string[] } | undefined
  let notRun: string | undefined
  markdown.split('\n').forEach((line, index) => {
    const fence = /^ {0,3}(`{3,})\s*(\w*)/.exec(line)
    if (open) {
      if (fence?.[1]?.startsWith(open.fence) === true && fence[2] === '') {
        blocks.push({ ...open.block, text: open.lines.join('\n') })
        open = undefined
      } else open.lines.push(line)
    } else if (fence) {
      open = {
        block: { language: fence[2] ?? '', text: '', line: index + 2, notRun },
        fence: fence[1] ?? '',
        lines: [],
      }
      notRun = undefined
    } else if (line.trim() !== '') notRun = /^<!-- not run: (.+) -->$/.exec(line.trim())?.[1]
  })
  if (open) throw new Error(`line ${open.block.line - 1}: this block is never closed`)
  return blocks
}

/** Targets of the links and images outside fenced blocks that point into the checkout, without their fragments. */
export function relativeLinks(markdown: string): readonly string[] {
  const prose = markdown.replace(/^ {0,3}(`{3,})[^\n]*\n[\s\S]*?^ {0,3}\1`*\s*$/gm, '')
  return [...prose.matchAll(/\]\(([^)\s]+)(?:\s+"[^"]*")?\)/g)]
    .map((match) => (match[1] ?? '').replace(/#.*$/, ''))
    .filter((target) => target !== '' && !/^[a-z][a-z0-9+.-]*:/i.test(target))
}

/** The text between `<!-- name:start -->` and `<!-- name:end -->`; undefined when there is no such part. */
export function markedPart(markdown: string, name: string): string | undefined {
  const start = `<!-- ${name}:start -->`
  const from = markdown.indexOf(start)
  const to = markdown.indexOf(`<!-- ${name}:end -->`)
  return from < 0 || to < from ? undefined : markdown.slice(from + start.length, to).trim()
}
