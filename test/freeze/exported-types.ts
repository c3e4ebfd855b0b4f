/** The exports of entries, and the types of this package that they lead to, as lines without words, paths or order. */
import { join } from 'node:path'
import type { Node } from 'typescript/unstable/ast'
import {
  isBlock,
  isIdentifier,
  isMethodDeclaration,
  isPrivateIdentifier,
  isPropertyDeclaration,
} from 'typescript/unstable/ast/is'
import { API, NodeBuilderFlags, SymbolFlags, type Project, type Symbol } from 'typescript/unstable/sync'
import { root } from '../support/repository.ts'

const { Function, Class, Variable, Interface, TypeAlias } = SymbolFlags
const KINDS = { function: Function, class: Class, const: Variable, interface: Interface, type: TypeAlias }
const WHOLE = NodeBuilderFlags.NoTruncation
const OURS = new RegExp(`^${root}/(?:src|plugins)/`)
const LONG = 300
/** literals that are for people */
const WORDS = /"[^" ]+ [^"]*"/g

/** The place of a type in the checkout, which differs between checkouts. */
const PLACE = /import\("[^"]*"\)\./g

/** An export by the name that it has outside. */
type Exported = readonly [name: string, symbol: Symbol]

export class ExportedTypes implements Disposable {
  readonly #api = new API({ cwd: root })
  readonly #project: Project
  /** names of long types by their texts, in which the compiler prints them */
  readonly #names = new Map<string, string>()

  constructor(config: string) {
    const path = join(root, config)
    const project = this.#api.updateSnapshot({ openProjects: [path] }).getProject(path)
    if (project === undefined) throw new Error(`${path} is missing`)
    this.#project = project
  }

  exportsOf(entry: string): readonly Exported[] {
    const file = this.#project.program.getSourceFile(join(root, entry))
    const module = file && this.#project.checker.getSymbolAtLocation(file)
    if (module === undefined) throw new Error(`${entry} is not a module of the project`)
    const exported = this.#project.checker.getExportsOfModule(module)
    const all = exported.map((one): Exported => [one.name, this.#real(one)])
    for (const [name, symbol] of all.filter(([, { flags }]) => flags & TypeAlias)) {
      const { checker } = this.#project
      const text = checker.typeToString(checker.getDeclaredTypeOfSymbol(symbol), undefined, WHOLE)
      if (text.length > LONG) this.#names.set(text, name)
    }
    return all
  }

  /** A line for each export: its kind, its name and, where it is a value, its type. */
  namesOf(exported: readonly Exported[]): readonly string[] {
    const lines = exported.map(([name, symbol]) => {
      const kinds = Object.entries(KINDS).flatMap(([kind, flag]) => (symbol.flags & flag ? [kind] : []))
      return `${name} ${kinds.join(' ')}${isType(symbol) ? '' : ` ${this.#typeOf([symbol]).join('')}`}`
    })
    return lines.toSorted()
  }

  /** The types that exports are or lead to, each with its members. */
  typesOf(exported: readonly Exported[]): readonly string[] {
    const found = new Set(exported.map(([, symbol]) => symbol))
    const texts = new Set<string>()
    for (const symbol of found) {
      for (const other of this.#mentionedBy(symbol)) found.add(other)
      if (isType(symbol)) texts.add([symbol.name, ...this.#membersOf(symbol)].join('\n  '))
    }
    return [...texts].toSorted()
  }

  [globalThis.Symbol.dispose](): void {
    this.#api.close()
  }

  /** Types of this package by whose names a declaration is written, without bodies of functions. */
  #mentionedBy(symbol: Symbol): readonly Symbol[] {
    const names: Node[] = []
    const walk = (node: Node): void => {
      const isHidden = (isPropertyDeclaration(node) || isMethodDeclaration(node)) && isPrivateIdentifier(node.name)
      if (isHidden || isBlock(node)) return
      if (isIdentifier(node)) names.push(node)
      node.forEachChild(walk)
    }
    for (const declaration of symbol.declarations)
      if (OURS.test(declaration.path)) declaration.resolve(this.#project)?.forEachChild(walk)
    const { checker } = this.#project
    const meant = names.length === 0 ? [] : checker.getSymbolAtLocation(names)
    return meant
      .flatMap((one) => (one === undefined ? [] : [this.#real(one)]))
      .filter((one) => isType(one) && one.declarations.some(({ path }) => OURS.test(path)))
  }

  #membersOf(symbol: Symbol): readonly string[] {
    const { checker } = this.#project
    const type = checker.getDeclaredTypeOfSymbol(symbol)
    if (symbol.flags & TypeAlias)
      return [withoutDeclarations(checker.typeToString(type, undefined, WHOLE | NodeBuilderFlags.InTypeAlias))]
    const members = checker.getPropertiesOfType(type).filter(({ name }) => !name.startsWith('__#'))
    const types = this.#typeOf(members)
    return members
      .map(
        ({ name, flags }, at) => `${name.replace(/@\d+$/, '')}${flags & SymbolFlags.Optional ? '?' : ''}: ${types[at]}`,
      )
      .toSorted()
  }

  #typeOf(symbols: readonly Symbol[]): readonly string[] {
    const { checker } = this.#project
    const types = symbols.length === 0 ? [] : checker.getTypeOfSymbol(symbols)
    const texts = types.map((type) =>
      type === undefined ? '?' : withoutDeclarations(checker.typeToString(type, undefined, WHOLE)),
    )
    return texts.map((text) =>
      [...this.#names].reduce(
        (shorter, [long, name]) => shorter.replaceAll(long, name),
        text.replaceAll(PLACE, '').replaceAll(WORDS, 'string'),
      ),
    )
  }

  #real(symbol: Symbol): Symbol {
    return symbol.flags & SymbolFlags.Alias ? this.#project.checker.getAliasedSymbol(symbol) : symbol
  }
}

function isType({ flags }: Symbol): boolean {
  return (flags & (Class | Interface | TypeAlias)) !== 0
}

/** Without what types of plugs carry of their declarations, which is in a file of its own. */
function withoutDeclarations(text: string): string {
  const start = text.indexOf('DefinedPlug<')
  if (start < 0) return text
  const open = start + 'DefinedPlug'.length
  let depth = 0
  let at = open
  do {
    const char = text[at]
    if (char === '"') at = endOfText(text, at)
    else if (char === '<') depth++
    else if (char === '>' && text[at - 1] !== '=') depth--
    at++
  } while (depth > 0 && at < text.length)
  return text.slice(0, open) + withoutDeclarations(text.slice(at))
}

function endOfText(text: string, start: number): number {
  let at = start + 1
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1
  return at
}
