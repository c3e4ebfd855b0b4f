/**
 * Builds dist/. With `--prepare` (npm runs that after an install in the checkout and for a git dependency) it skips
 * the type check, which `npm run types` does, and does nothing where the compiler is not installed.
 */
import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const prepare = process.argv.includes('--prepare')
const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc')

if (prepare && !existsSync(compiler)) {
  process.stderr.write(
    'prepare: dist is not built, because the compiler is not installed (development packages are left out)\n',
  )
  process.exit(0)
}

rmSync(join(root, 'dist'), { recursive: true, force: true })
const args = [compiler, '-p', join(root, 'src', 'tsconfig.json'), ...(prepare ? ['--noCheck'] : [])]
const { status } = spawnSync(process.execPath, args, { cwd: root, stdio: 'inherit' })

const cli = join(root, 'dist', 'src', 'host', 'cli.js')
if (existsSync(cli)) chmodSync(cli, 0o755)
process.exit(status ?? 1)
