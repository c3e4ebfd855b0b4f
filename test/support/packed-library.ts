import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { root } from './repository.ts'
import { mustRun } from './run-command.ts'

export interface PackedLibrary {
  /** paths inside the tarball, without the leading `package/` */
  files: readonly string[]
  tarball: string
  /** an empty project in which the tarball is installed */
  project: string
  remove(): void
}

/** Builds and packs the library in a temporary folder and installs the tarball into an empty project beside it. */
export function packLibrary(): PackedLibrary {
  const folder = mkdtempSync(join(tmpdir(), 'reflexarc-package-'))
  const stage = join(folder, 'stage')
  const project = join(folder, 'project')
  mkdirSync(stage)
  mkdirSync(project)

  for (const name of ['package.json', 'README.md', 'LICENSE', 'fixtures']) {
    cpSync(join(root, name), join(stage, name), { recursive: true })
  }
  // Types are the check's own part; here the question is what reaches a user
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
  const build = ['-p', join(root, 'src', 'tsconfig.json'), '--outDir', join(stage, 'dist'), '--noCheck']
  mustRun(process.execPath, [compiler, ...build], root)
  const answer = mustRun('npm', ['pack', '--ignore-scripts', '--json', '--loglevel=error'], stage)
  const [packed] = JSON.parse(answer) as [{ filename: string; files: { path: string }[] }]
  const tarball = join(stage, packed.filename)

  writeFileSync(join(project, 'package.json'), JSON.stringify({ name: 'a-user', private: true, type: 'module' }))
  const quiet = ['--prefer-offline', '--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error']
  mustRun('npm', ['install', ...quiet, tarball], project)
  // The one thing that a TypeScript user on Node has besides
  for (const types of ['@types/node', 'undici-types']) {
    cpSync(join(root, 'node_modules', types), join(project, 'node_modules', types), { recursive: true })
  }
  return {
    files: packed.files.map((file) => file.path),
    tarball,
    project,
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}
