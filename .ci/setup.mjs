/**
 * Makes the checkout ready: the packages of package-lock.json and Node 24 from the `node` package.
 * Plain JavaScript without packages, because a fresh clone starts it with whatever Node the machine has (20 and up).
 * Says what it does on stderr; stdout belongs to the command that follows.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const NODE_MAJOR = 24

function say(text) {
  process.stderr.write(`setup: ${text}\n`)
}

function fail(lines) {
  process.stderr.write(['', '*** setup failed', ...lines.map((line) => `*** ${line}`), '', ''].join('\n'))
  process.exit(1)
}

function readJson(path) {
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : undefined
}

/**
 * The packages that the lock file wants and node_modules lacks or has in another version, by npm's own record of
 * what it installed. Optional ones may be absent: they are for other platforms.
 */
function missing() {
  const wanted = readJson(join(root, 'package-lock.json'))
  if (wanted === undefined) fail(['package-lock.json is not there.', 'Restore it: git checkout package-lock.json'])
  const installed = readJson(join(root, 'node_modules', '.package-lock.json'))?.packages ?? {}
  return Object.entries(wanted.packages)
    .filter(([place, entry]) => {
      if (place === '') return false
      const found = existsSync(join(root, place)) ? installed[place] : undefined
      return found === undefined ? !entry.optional && !entry.devOptional : found.version !== entry.version
    })
    .map(([place]) => place.replace(/^.*node_modules\//, ''))
}

/** npm by the Node that runs it: the one in node_modules is replaced while this works. */
function npmCi() {
  const args = ['ci', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error']
  const { npm_execpath: npm, npm_node_execpath: node } = process.env
  const stdio = ['ignore', 2, 2]
  if (npm !== undefined && /npm-cli\.c?js$/.test(npm)) {
    return spawnSync(node ?? process.execPath, [npm, ...args], { cwd: root, stdio })
  }
  return spawnSync('npm', args, { cwd: root, stdio, shell: process.platform === 'win32' })
}

const absent = missing()
if (absent.length > 0) {
  const some = absent.length > 3 ? `${absent.slice(0, 3).join(', ')} and ${absent.length - 3} more` : absent.join(', ')
  say(`node_modules does not match package-lock.json (${some}); running npm ci, this takes a minute`)
  const done = npmCi()
  if (done.status !== 0) {
    fail([
      `npm ci ended with ${done.status ?? done.signal ?? done.error?.message}; its own words are above.`,
      'The npm registry must be reachable. When the lock file does not fit package.json, run: npm install',
    ])
  }
  say('packages installed')
}

const local = join(root, 'node_modules', '.bin', process.platform === 'win32' ? 'node.cmd' : 'node')
const answer = spawnSync(local, ['--version'], { encoding: 'utf8', shell: process.platform === 'win32' })
const version = answer.status === 0 ? answer.stdout.trim() : undefined
const ownMajor = Number(process.versions.node.split('.')[0])

if (version?.startsWith(`v${NODE_MAJOR}.`)) {
  say(`ready, Node ${version} from node_modules`)
} else if (version === undefined && ownMajor >= NODE_MAJOR) {
  say(`ready, Node ${process.version} of this machine (the node package brought none)`)
} else {
  fail([
    version === undefined
      ? `Node ${NODE_MAJOR} is not at node_modules/.bin/node, and this machine has Node ${process.version}, which cannot run .ts files.`
      : `node_modules/.bin/node is ${version}, not Node ${NODE_MAJOR}.`,
    'The npm package `node` fetches it in its install script; a setting `ignore-scripts` or a blocked download keeps it out.',
    `To mend it: npm rebuild node --ignore-scripts=false, or npm install --save-dev node@${NODE_MAJOR}, or put Node ${NODE_MAJOR} first on the PATH.`,
  ])
}
