/**
 * Puts each mended fault back, in a copy of the sources, and looks whether runs from seeds find it. What came out is
 * written down as it comes, so that a later call goes on where this one ended.
 */
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MUTANTS, type Mutant } from './mutants.ts'

const COPIED = ['src', 'plugins', 'test/simulator', 'package.json']

export interface MutantOptions {
  /** the checkout */
  readonly root: string
  /** how many are tried for each */
  readonly seeds: number
  /** the first of them */
  readonly from: number
  /** part of the names of those that are tried; empty: all */
  readonly only: string
  /** the subject that all runs are about; absent: that of the mutant, if it has one */
  readonly about?: string | undefined
  /** after so many no other mutant is begun */
  readonly minutes: number
  /** a file with what came out, for a later call; absent: none */
  readonly results?: string | undefined
  /** prints JSON and no table */
  readonly json: boolean
}

/** `seed`: the one that found it; `by`: what was found; `about`: the subject that all runs had. */
type Outcome =
  | { readonly kind: 'found'; readonly seed: number; readonly by: string; readonly about?: string }
  | { readonly kind: 'missed'; readonly from: number; readonly seeds: number; readonly about?: string }
  /** its text does not stand once in its file, or the sources do not run with it */
  | { readonly kind: 'broken'; readonly why: string }

type Results = Record<string, Outcome>

/** Gives how many were not found, those that were not tried included. */
export function runMutants(options: MutantOptions): number {
  const { root, only, minutes, results: file } = options
  const end = process.hrtime.bigint() + BigInt(Math.round(minutes * 6e10))
  const results: Results =
    file !== undefined && existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Results) : {}
  const mutants = MUTANTS.filter(({ name }) => name.includes(only))
  const copy = mkdtempSync(join(tmpdir(), 'reflexarc-mutants-'))
  try {
    for (const path of COPIED) cpSync(join(root, path), join(copy, path), { recursive: true })
    symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'))
    for (const mutant of mutants) {
      if (!isToBeTried(mutant, results[mutant.name], options)) continue
      if (process.hrtime.bigint() > end) break
      const outcome = tried(copy, mutant, options)
      results[mutant.name] = outcome
      console.error(rowOf(mutant.name, outcome))
      if (file !== undefined) writeFileSync(file, `${JSON.stringify(results, undefined, 1)}\n`)
    }
  } finally {
    rmSync(copy, { recursive: true, force: true })
  }
  const of = mutants.map(({ name }) => [name, results[name]] as const)
  const found = of.filter(([, outcome]) => outcome?.kind === 'found').length
  const table = of.map(([name, outcome]) => rowOf(name, outcome))
  const text = options.json
    ? JSON.stringify(
        Object.fromEntries(of.map(([name, outcome]) => [name, outcome ?? { kind: 'not tried' }])),
        undefined,
        1,
      )
    : [...table, `${found} of ${mutants.length} mutants were found`].join('\n')
  console.log(text)
  return mutants.length - found
}

/** What was missed is tried again with other seeds, or with more, or in runs about something else. */
function isToBeTried(mutant: Mutant, before: Outcome | undefined, options: MutantOptions): boolean {
  const { from, seeds, about = mutant.about } = options
  if (before?.kind !== 'missed') return before?.kind !== 'found'
  return about !== before.about || from < before.from || from + seeds > before.from + before.seeds
}

function tried(copy: string, { file, find, replace, ...own }: Mutant, options: MutantOptions): Outcome {
  const { from, seeds, about = own.about } = options
  const path = join(copy, file)
  const source = readFileSync(path, 'utf8')
  const times = source.split(find).length - 1
  if (times !== 1) return { kind: 'broken', why: `its text stands ${times} times in ${file}` }
  writeFileSync(
    path,
    source.replace(find, () => replace),
  )
  const args = ['test/simulator/main.ts', '--from', String(from), '--seeds', String(seeds), '--first']
  if (about !== undefined) args.push('--about', about)
  const { stdout, stderr, status } = spawnSync(process.execPath, args, { cwd: copy, encoding: 'utf8' })
  writeFileSync(path, source)
  const by = /^(\d+) found \d+:\n {2}(.*)$/m.exec(stdout)
  const had = about !== undefined && { about }
  if (by !== null) return { kind: 'found', seed: Number(by[1]), by: by[2] ?? '', ...had }
  return status === 0 ? { kind: 'missed', from, seeds, ...had } : { kind: 'broken', why: stderr.slice(0, 300) }
}

function rowOf(name: string, outcome: Outcome | undefined): string {
  const told = (): string => {
    if (outcome === undefined) return 'not tried'
    if (outcome.kind === 'broken') return `BROKEN: ${outcome.why}`
    const runs = outcome.about === undefined ? '' : ` about ${outcome.about}`
    if (outcome.kind === 'found') return `seed ${outcome.seed}${runs}, ${outcome.by.slice(0, 60)}`
    return `NOT FOUND in seeds ${outcome.from} to ${outcome.from + outcome.seeds - 1}${runs}`
  }
  return `| ${name} | ${told()} |`
}
