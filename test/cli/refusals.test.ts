/**
 * Tests what commands reject before doing anything: the exit code, an empty stdout, and a hint at the right input.
 */
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { root } from '../support/repository.ts'
import { type Words, Workspace } from './run-cli.ts'

const place = new Workspace({
  'rule.json': { sensors: [{ label: 'a', name: 'stream', resource: '$' }] },
  'wrong.json': { sensors: [{ label: 'a', name: 'strem' }] },
  'torn.json': '{',
  'm.csv': 'timestamp,t\n0,1\n',
  'back.csv': 'timestamp,t\n60000,1\n0,1\n',
  'named.csv': 'resource,timestamp,t\nr,0,1\n',
  'bad.csv': 'timestamp,t\nsoon,1\n60,1\n0,2\n1\n',
  'gw.vm': 'not JSON',
  'none.mjs': 'export const a = 1',
  'good.mjs': 'export default () => ({ properties: [], options: { metrics: {} } })',
})
afterAll(() => place[Symbol.dispose]())

const fixture = (path: string) => join(root, 'fixtures', path)
const [rule, later] = [fixture('rules/overheating.json'), fixture('rules/overheating-later.json')]
const playing = `--messages ${fixture('recordings/boiler.csv')} --resource boiler-1`
const nightly = ['next', '0 30 2 * * ?', '--zone', 'Europe/Brussels', '--from']
const back = 'simulate rule.json --messages back.csv --resource r'
const one = 'simulate rule.json --messages m.csv --resource r'

it.each<[Words, string | RegExp]>([
  ['simulat', "error: unknown command 'simulat'\n(Did you mean simulate?)"],
  ['check --jsn x', "error: unknown option '--jsn'\n(Did you mean --json?)"],
  ['check', "error: missing required argument 'rule'"],
  ['simulate a b', "error: too many arguments for 'simulate'"],
  ['simulate a --from', "error: option '--from <time>' argument missing"],

  ['convert gw.vm --payload gw.vm --compat 3', '--compat 3: write 1.7 or 2.4'],
  ['convert gw.vm --payload nowhere.json', 'nowhere.json: cannot be read'],
  ['convert gw.vm --payload gw.vm', 'gw.vm: The body is not JSON'],

  [
    `diff ${rule} ${playing}`,
    'nothing to compare with: pass another rule, or --firings FILE with the output of an earlier run',
  ],
  [`diff ${rule} ${later} --firings x ${playing}`, 'nothing to compare with: pass another rule, or --firings FILE'],
  [
    `diff ${rule} ${later} ${playing} --tolerance soon --zone Mars`,
    'error: --tolerance: "soon" is not a valid duration; use a form such as PT50S, P1DT2H or 5m\nerror: --zone: ',
  ],
  [
    `diff ${rule} ${later} ${playing} --tolerance -PT5M`,
    '--tolerance: "-PT5M" is negative; write a duration such as 10m or PT10M\n',
  ],
  [`diff - - ${playing}`, 'error: only one of the rules, --firings and --messages can be standard input\n'],
  [`diff ${rule} ${later}`, 'error: nothing to run: set --messages FILE, or --until T'],
  [`diff ${rule} gone.json ${playing}`, 'ERROR   gone.json: cannot be read: the file does not exist\n'],
  [
    'diff torn.json wrong.json --messages bad.csv --resource r',
    /ERROR {3}torn\.json:1[^]*ERROR {3}wrong\.json: \/sensors[^]*bad\.csv:2: "soon"[^]*the rule was not run\n$/,
  ],

  [[...nightly, '2026-03-28', '--down', '2026-03-28..2026-03-27'], 'ends before it begins'],
  [[...nightly, '2026-03-29T02:30'], 'does not exist in Europe/Brussels'],
  [[...nightly, '2026-03-28', '--dst-overlap', 'third'], 'write first, second or both'],
  [[...nightly, '2026-03-28', '-n', '10001'], '1 to 10000'],

  ['plugs conditon', 'did you mean condition?'],
  ['plugs holdsfor', 'did you mean holdsFor?'],
  ['plugs qqqqqqqqqqqq', '"reflexarc plugs" lists all'],

  ['prove rule.json --props none.mjs', 'none.mjs does not return { properties: [...], options: { metrics } }'],
  ['prove rule.json --props gone.mjs', 'gone.mjs cannot be loaded'],
  ['prove rule.json --props good.mjs --time soon', '--time: "soon" is not a valid duration'],
  ['prove rule.json --props good.mjs --seed x', '--seed: "x" is not a whole number from 0'],
  ['prove gone.json --props good.mjs', 'gone.json'],

  ['simulate rule.json --messages none.csv --resource r', 'none.csv: cannot be read: the file does not exist\n'],
  ['simulate rule.json --messages . --resource r', '.: is a folder; name a file in it\n'],
  ['simulate rule.json --messages m.csv', 'm.csv:2: the resource of the message is missing; add --resource R'],
  ['simulate rule.json --messages named.csv', '(--resource R names the resource of the task'],
  [
    `${back} --down 1970-01-01T00:00:30..1970-01-01T00:02:00`,
    'the downtime is not within the run; use one that begins',
  ],
  [`${one} --from 2030-01-01`, '--from is after the last message of m.csv'],
  [`${one} --until 1960-01-01`, '--until is before the first message of m.csv'],
  [
    'simulate wrong.json --messages bad.csv',
    /^ERROR {3}wrong\.json: \/sensors\/0\/name: .*did you mean "stream"\?\n[^]*\nbad\.csv:2:.*\nbad\.csv:5:.*\nthe rule was not run\n$/,
  ],
  [`simulate ${fixture('rules/threshold.json')} ${playing}`, /Variable 'metric' not found[\s\S]*--set name=value/],

  [
    `sweep ${rule} ${playing} --set temprature.threshold=70..90/5`,
    'error: --set temprature.threshold: node "temprature" does not exist; did you mean temperature.threshold?\n',
  ],
  [
    `sweep ${rule} ${playing} --set temperature.treshold=1 --set alarm.lvl=2`,
    `error: --set temperature.treshold: "treshold" is not a property of temperature; did you mean temperature.threshold?
error: --set alarm.lvl: "lvl" is not a property of alarm; did you mean alarm.level?\n`,
  ],
  [
    `sweep ${rule} ${playing} --set threshold --set a.b=1..2 --set c=1 --set c=2 --seed x --order up`,
    `error: --set: "threshold" is not an assignment; write node.property=70..90/5, or name=70,75,90 for a variable
error: --set a.b: the range "1..2" lacks a step; use a range with its step such as 70..90/5, a list such as 70,75,90, or one value
error: --set: c is set twice; write its values as one list such as c=70,75,90
error: --seed: "x" is not a seed; write a whole number from 0 to 4294967295
error: --order: "up" is not a valid order; write time, file or lived\n`,
  ],
  [`sweep ${rule} ${playing}`, 'error: nothing to sweep: set --set node.property=70..90/5\n'],
  [
    `sweep ${rule} ${playing} --set temperature.threshold=1..100/1 --set alarm.invocationPolicy=1..100/1`,
    'error: --set: the grid has 10,000 runs, more than 1,000; use larger steps or fewer values\n',
  ],
  [`sweep ${rule} ${playing} --set __proto__=1`, 'error: --set: "__proto__" is not a valid name; write node.property'],
  [
    `sweep ${rule} ${playing} --set temperature.threshold=90,{}`,
    /^error: --set: \/sensors\/0\/properties\/threshold: with temperature\.threshold=\{\}: (?!.*threshold=90)/,
  ],
  [
    'sweep wrong.json --set a.b=1 --messages bad.csv --resource r',
    /ERROR {3}wrong\.json: \/sensors[^]*bad\.csv:2: "soon" is not a valid time[^]*the rule was not run\n$/,
  ],

  [
    'serve --port x --log-level loud --store tape:',
    /^error: --port: "x" .*\nerror: --store: .*\nerror: --log-level: "loud" .*\n$/,
  ],
  [
    ['token', '--tenant', '_host', '--expires', 'soon', '--subject', ''],
    /^error: --data: the folder \S+ does not exist; use the data folder of a host\nerror: --tenant: "_host" is not a valid tenant name.*\nerror: --subject: write a name.*\nerror: --expires: "soon" is not a valid duration.*\n$/,
  ],
])('%s', async (command, message) => {
  const { code, stdout, stderr } = await place.cli(command)
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  if (typeof message === 'string') expect(stderr).toContain(message)
  else expect(stderr).toMatch(message)
})
