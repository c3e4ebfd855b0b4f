/** Installs the packages of bench/package.json on first use. The checkout itself does not need them. */
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const FOLDER = import.meta.dirname

/** Throws when npm fails. */
export function ensurePeers(): void {
  if (installed()) return
  process.stderr.write('bench: installing the peers (npm ci --prefix bench), once\n')
  const args = ['ci', '--prefix', FOLDER, '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
  const { status } = spawnSync('npm', args, { stdio: ['ignore', 2, 2], shell: process.platform === 'win32' })
  if (status !== 0) throw new Error('npm could not install the peers; skip them with --subjects closure,own')
}

/** Compares node_modules with the lock file, by npm's own record. */
function installed(): boolean {
  const record = join(FOLDER, 'node_modules', '.package-lock.json')
  if (!existsSync(record)) return false
  const wanted = versions(join(FOLDER, 'package-lock.json'))
  const found = versions(record)
  // optional packages of other platforms may be absent
  return [...wanted].every(([path, version]) => found.get(path) === version)
}

function versions(path: string): Map<string, string | undefined> {
  const lock = JSON.parse(readFileSync(path, 'utf8')) as {
    packages: Record<string, { version?: string; optional?: boolean }>
  }
  return new Map(
    Object.entries(lock.packages)
      .filter(([path, { optional = false }]) => path !== '' && !optional)
      .map(([path, { version }]) => [path, version]),
  )
}
