/** Reads the members of TypeScript interfaces with their comments, for tables in the documents. Source formatted by prettier is enough for it. */
export interface Member {
  readonly name: string
  readonly optional: boolean
  readonly type: string
  /** its comment as one paragraph; empty when there is none */
  readonly about: string
}

export interface InterfaceText {
  readonly name: string
  /** what it extends, as written; empty for nothing */
  readonly parents: string
  readonly about: string
  readonly members: readonly Member[]
}

/** The interfaces that a source text declares, in its order. */
export function readInterfaces(source: string): readonly InterfaceText[] {
  const lines = source.split('\n')
  const found: InterfaceText[] = []
  lines.forEach((line, index) => {
    const head = /^(?:export )?interface (\w+)(?:<[^{]*>)?(?: extends ([^{]+?))? \{(\})?$/.exec(line)
    if (head === null) return
    const end = head[3] === undefined ? lines.indexOf('}', index) : index
    found.push({
      name: head[1] ?? '',
      parents: head[2] ?? '',
      about: commentBefore(lines, index),
      members: readMembers(lines.slice(index + 1, end)),
    })
  })
  return found
}

/** The interface of that name. Throws when the source has none, so that a table is never silently empty. */
export function readInterface(source: string, name: string): InterfaceText {
  const found = readInterfaces(source).find((one) => one.name === name)
  if (found === undefined) throw new Error(`interface ${name} does not exist; name its replacement`)
  return found
}

function readMembers(lines: readonly string[]): readonly Member[] {
  const members: Member[] = []
  let about: string[] = []
  let code: string[] = []
  const close = () => {
    const member = /^(?:readonly )?([\w$]+)(\??)(?:: (.+)|(\(.*))$/s.exec(signature(code))
    if (member !== null) {
      const [, name = '', optional, type, method] = member
      members.push({ name, optional: optional === '?', type: type ?? method ?? '', about: plain(about) })
      about = []
    }
    code = []
  }
  let inComment = false
  for (const line of lines) {
    if (inComment || line.startsWith('  /*')) {
      if (!inComment) close()
      about.push(line)
      inComment = !line.includes('*/')
    } else {
      if (/^ {2}[\w$]/.test(line)) close()
      code.push(line)
    }
  }
  close()
  return members
}

/** The code of one member on one line, without comments inside of it. */
function signature(code: readonly string[]): string {
  const text = code.join('; ').replaceAll(/\/\*\*.*?\*\//g, '')
  return text
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/([{(|]) ?;/g, '$1')
    .replaceAll(/(?:; )+/g, '; ')
    .replaceAll(/; ([|})])/g, ' $1')
    .trim()
}

/** The block comment that ends on the line before; empty when there is none. */
function commentBefore(lines: readonly string[], index: number): string {
  const above = lines.slice(0, index)
  if (!above.join('\n').endsWith('*/')) return ''
  const from = above.findLastIndex((line) => line.startsWith('/**'))
  return plain(above.slice(from))
}

/** A comment without its signs, as one paragraph. */
function plain(lines: readonly string[]): string {
  return lines
    .map((line) =>
      line
        .trim()
        .replace(/^\/\*\*?|\*\/$/g, '')
        .replace(/^\s*\*(?!\/)/, '')
        .replace(/\*\/$/, '')
        .trim(),
    )
    .filter((line) => line !== '')
    .join(' ')
}
