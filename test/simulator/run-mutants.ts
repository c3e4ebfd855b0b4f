/** Puts each mended fault back, in a copy of the sources, and looks whether runs from seeds find it. */
import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MUTANTS, type Mutant } from './mutants.ts'

const COPIED = ['src', 'plugins', 'test/simulator', 'package.json']

/** Gives how many were not found within so many seeds. `root`: the checkout. `only`: of those whose names have it. */
export function runMutants(root: string, seeds: number, only = ''): number {
  const copy = mkdtempSync(join(tmpdir(), 'reflexarc-mutants-'))
  try {
    for (const path of COPIED) cpSync(join(root, path), join(copy, path), { recursive: true })
    symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'))
    const mutants = MUTANTS.filter(({ name }) => name.includes(only))
    const missed = mutants.filter((mutant) => !isFound(copy, mutant, seeds))
    console.log(`${mutants.length - missed.length} of ${mutants.length} mutants were found within ${seeds} seeds`)
    return missed.length
  } finally {
    rmSync(copy, { recursive: true, force: true })
  }
}

function isFound(copy: string, { name, file, find, replace }: Mutant, seeds: number): boolean {
  const path = join(copy, file)
  const source = readFileSync(path, 'utf8')
  writeFileSync(
    path,
    source.replace(find, () => replace),
  )
  const args = ['test/simulator/main.ts', '--seeds', String(seeds), '--first']
  const { stdout, stderr, status } = spawnSync(process.execPath, args, { cwd: copy, encoding: 'utf8' })
  writeFileSync(path, source)
  const by = /^(\d+) found \d+:\n {2}(.*)$/m.exec(stdout)
  const how =
    by === null ? (status === 0 ? 'NOT FOUND' : `it does not run: ${stderr.slice(0, 300)}`) : `seed ${by[1]}: ${by[2]}`
  console.log(`${name}\n  ${how.slice(0, 200)}`)
  return by !== null
}
