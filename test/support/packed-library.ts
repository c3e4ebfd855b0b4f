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
  /** Adds packages to the project, as `npm install` does. */
  install(...packages: readonly string[]): void
  remove(): void
}

/** Builds and packs the library in a temporary folder, and installs only the tarball into an empty project. */
export function packLibrary(): PackedLibrary {
  const folder = mkdtempSync(join(tmpdir(), 'reflexarc-package-'))
  const stage = join(folder, 'stage')
  const project = join(folder, 'project')
  mkdirSync(stage)
  mkdirSync(project)

  mustRun(process.execPath, [join(root, '.ci', 'build.mjs'), '--package', stage], root)
  const answer = mustRun('npm', ['pack', '--ignore-scripts', '--json', '--loglevel=error'], stage)
  const [packed] = JSON.parse(answer) as [{ filename: string; files: { path: string }[] }]
  const tarball = join(stage, packed.filename)

  writeFileSync(join(project, 'package.json'), JSON.stringify({ name: 'a-user', private: true, type: 'module' }))
  const install = (...packages: readonly string[]): void => {
    const quiet = ['--prefer-offline', '--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error']
    mustRun('npm', ['install', ...quiet, ...packages], project)
  }
  install(tarball)
  // TypeScript users on Node also have these types
  for (const types of ['@types/node', 'undici-types']) {
    cpSync(join(root, 'node_modules', types), join(project, 'node_modules', types), { recursive: true })
  }
  return {
    files: packed.files.map((file) => file.path),
    tarball,
    project,
    install,
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}
