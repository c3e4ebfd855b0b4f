/** Writes the HTML report of `--html`. */
import { writeFile } from 'node:fs/promises'
import type { Diff } from '#core'
import { AppError, messageOf } from '#kernel'
import type { Sweep } from '#library'
import { grouped } from '../numbers.ts'
import type { Opened } from '../open-playback.ts'
import { recordingText, spanText } from '../report/recording-text.ts'
import { nameOfRule } from '../report/run-report.ts'
import type { Terminal } from '../terminal.ts'
import type { Zone } from '../zone.ts'
import { chartOf, clockTime, LEFT, RIGHT, share, shown } from './chart.ts'
import { sweptThresholds } from './plotted.ts'
import { type Report, type ReportedFiring, reportedFirings } from './report.ts'
import type { RunRecorder } from './run-recorder.ts'
import { thresholdsOf } from './thresholds.ts'

export const HTML = ['--html <file>', 'also write a page with the data, limits and firings as a plot'] as const

export async function writeReport(path: string, report: Report, terminal: Terminal): Promise<void> {
  try {
    await writeFile(path, pageOf(report))
  } catch (error) {
    const text = `--html: ${path} cannot be written: ${messageOf(error)}; name a file in an existing folder`
    throw new AppError('NOT_FOUND', text, { cause: error })
  }
  terminal.err(`the report is in ${path}\n`)
}

/** What a run over a recording found, in addition to the recorded messages and firings. */
export interface RunFacts {
  readonly opened: Opened
  readonly recorder: RunRecorder
  readonly zone: Zone
  readonly variables: Readonly<Record<string, unknown>>
  /** paths of the rules */
  readonly names: Report['names']
  readonly messages: number
  readonly diff?: Diff
  readonly sweep?: Sweep
}

/** Reports a run over a recording: the last of its rules is the new one. */
export function reportOfRun({ opened, recorder, zone, variables, names, messages, diff, sweep }: RunFacts): Report {
  const [first, second] = opened.rules
  const rule = second ?? first ?? {}
  const { from, until, firings, moreFirings } = recorder
  const limits = thresholdsOf(rule, variables)
  const old = second === undefined || first === undefined ? [] : thresholdsOf(first, variables)
  return {
    title: nameOfRule(rule),
    facts: [recordingText(opened.recording?.recording), spanText(from, until, zone)],
    figures: [
      ['messages', grouped(messages)],
      ...(sweep ? [['runs', grouped(sweep.rows.length)] as const] : []),
      ...(sweep || diff ? [] : [['firings', grouped(firings.length + moreFirings)] as const]),
      ...figuresOfDiff(diff && sumOf(diff)),
    ],
    names,
    zone,
    from,
    until,
    ...recorder.plotted(rule),
    thresholds: [
      ...old.map((limit) => ({ ...limit, version: 'old' as const })),
      ...sweptThresholds(limits, sweep?.rows.map(({ values }) => values) ?? []).map((limit) => {
        return { ...limit, version: 'new' as const }
      }),
    ],
    firings: reportedFirings(
      firings,
      diff?.differences.map((one) => ({ ...one, resource: resourceOf(one) })),
      diff === undefined || diff.more === 0,
      zone,
    ),
    moreFirings,
    ...(sweep && {
      sweep: {
        parameters: sweep.parameters,
        rows: sweep.rows.map(({ values, fired, perDay }) => ({
          values: sweep.parameters.map((path) => textOf(values[path])),
          firings: sumOfValues(fired),
          perDay: Object.values(perDay).includes(null) ? null : sumOfValues(perDay),
        })),
      },
    }),
  }
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

export interface DifferenceCounts {
  readonly equal: number
  readonly added: number
  readonly removed: number
  readonly moved: number
}

export function figuresOfDiff(counts: DifferenceCounts | undefined): Report['figures'] {
  if (counts === undefined) return []
  const { equal, added, removed, moved } = counts
  return [
    ['firings of old', grouped(equal + moved + removed)],
    ['firings of new', grouped(equal + moved + added)],
    ['equal', grouped(equal)],
    ['moved', grouped(moved)],
    ['only old', grouped(removed)],
    ['only new', grouped(added)],
  ]
}

function sumOf({ nodes }: Diff): DifferenceCounts {
  const sum = { equal: 0, added: 0, removed: 0, moved: 0 }
  for (const { equal, moved, onlyOld, onlyNew } of nodes) {
    sum.equal += equal
    sum.moved += moved
    sum.removed += onlyOld
    sum.added += onlyNew
  }
  return sum
}

function resourceOf(difference: Diff['differences'][number]): string | undefined {
  const { why } = difference.kind === 'onlyOld' ? difference.old : difference.new
  return why?.input.resource
}

function sumOfValues(counts: Readonly<Record<string, number | null>>): number {
  return Object.values(counts).reduce((sum: number, count) => sum + (count ?? 0), 0)
}

const STYLE = `
:root{color-scheme:light dark;--ink:#1c1b22;--soft:#6b6876;--line:#e7e5ec;--page:#fff;--card:#fff;--data:#3d5a80;--old:#85818f;--new:#6d28d9;--hatch:#d9d6e0;--hit:#f3eefc}
@media(prefers-color-scheme:dark){:root{--ink:#e8e6ee;--soft:#9a96a6;--line:#2d2b35;--page:#16151b;--card:#211f29;--data:#8fb3dd;--old:#8d8999;--new:#b794f6;--hatch:#3a3743;--hit:#2a2338}}
@media print{:root{color-scheme:light;--ink:#000;--soft:#555;--line:#ddd;--page:#fff;--data:#234;--old:#777;--new:#5b21b6;--hatch:#ccc;--hit:#fff}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:1180px;padding:28px 40px 48px;background:var(--page);color:var(--ink);font:14px/1.5 system-ui,sans-serif;font-variant-numeric:tabular-nums}
h1{margin:0;font-size:22px;font-weight:650;letter-spacing:-.01em}
h2{margin:32px 0 8px;font-size:15px;font-weight:650}
p{margin:2px 0;color:var(--soft)}
dl{display:flex;flex-wrap:wrap;gap:8px 36px;margin:18px 0 6px}
dt{color:var(--soft);font-size:12px}
dd{margin:0;font-size:20px;font-weight:600}
.legend{display:flex;gap:24px;margin:10px 0 0}
.legend span::before{content:"";display:inline-block;width:26px;margin-right:8px;vertical-align:middle;border-top:2px solid var(--new)}
.legend .old::before{border-top:2px dashed var(--old)}
figure{margin:22px 0 26px;break-inside:avoid}
figcaption{font-weight:650;font-size:15px;margin-bottom:4px}
svg{display:block;width:100%;height:auto;overflow:visible}
svg text{fill:var(--soft);font-size:11px}
svg .metric{fill:var(--ink);font-weight:600;font-size:12px}
path{fill:none}
.grid{stroke:var(--line)}
.data{stroke:var(--data);stroke-width:1.3;stroke-linejoin:round;stroke-linecap:round}
.gap{fill:url(#hatch)}
#hatch path{stroke:var(--hatch);stroke-width:1.5}
.guide{stroke-width:1;opacity:.45}
.guide.equal{opacity:.16}
.guide.new,path.limit.new{stroke:var(--new)}
.guide.old,path.limit.old{stroke:var(--old);stroke-dasharray:5 4}
path.limit{stroke-width:1.3}
svg text.limit.new{fill:var(--new)}
svg text.limit{stroke:var(--page);stroke-width:3px;paint-order:stroke}
.lane{position:relative;height:22px;margin:3px ${share(RIGHT)} 0 ${share(LEFT)};border-bottom:1px solid var(--line)}
.lane i{position:absolute;right:100%;margin-right:8px;color:var(--soft);font:11px/22px system-ui,sans-serif}
.mark{position:absolute;top:3px;width:5px;height:16px;margin-left:-2.5px;border-radius:2px;background:var(--new)}
.mark.old{background:var(--page);border:1.5px solid var(--old)}
.mark.equal{opacity:.4}
.mark:hover,.mark:focus{opacity:1;z-index:2;outline:2px solid var(--new);outline-offset:1px}
.card{display:none;position:absolute;z-index:3;width:max-content;max-width:560px;padding:10px 12px;border:1px solid var(--line);border-radius:8px;background:var(--card);color:var(--ink);box-shadow:0 6px 24px #0003;font-size:12px;line-height:1.45;white-space:pre-wrap;text-align:left}
.mark .card{top:22px;left:-8px}
.mark.left .card{left:auto;right:-8px}
.mark:hover .card,.mark:focus .card,tr:hover .card,tr:focus .card{display:block}
table{width:100%;border-collapse:collapse}
th{padding:4px 14px 6px 0;border-bottom:1px solid var(--soft);color:var(--soft);font-size:12px;font-weight:500;text-align:left}
td{padding:5px 14px 5px 0;border-bottom:1px solid var(--line);vertical-align:top}
td.time{white-space:nowrap}
.number{text-align:right}
td.why{position:relative;width:50%}
td.why .card{top:100%;right:0}
tr:target td,tbody tr:hover td{background:var(--hit)}
.tag{color:var(--soft)}
.tag.new{color:var(--new);font-weight:600}
.tag.old{text-decoration:underline dashed 1px;text-underline-offset:3px}
.bar{display:inline-block;height:10px;min-width:1px;border-radius:2px;background:var(--new);vertical-align:middle}
.issue{color:#b45309}
@media print{body{max-width:none;padding:0}.card{display:none!important}thead{display:table-header-group}tr{break-inside:avoid}.mark,.bar,.gap{print-color-adjust:exact}}
`

const HATCH =
  '<svg width="0" height="0" style="position:absolute" aria-hidden="true"><defs><pattern id="hatch" width="7" height="7" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><path d="M0 0V7"/></pattern></defs></svg>'

/** Renders a report as one self-contained HTML page without scripts: light, dark and printable. */
export function pageOf(report: Report): string {
  const { title, facts, figures, names, resources, moreResources } = report
  const legend =
    names.old === undefined
      ? ''
      : `<div class="legend"><span class="old">old: ${shown(names.old)}</span><span>new: ${shown(names.new)}</span></div>`
  const more = moreResources === 0 ? '' : `<p>${grouped(moreResources)} more with data are not shown</p>`
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="content-security-policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width">
<title>${shown(title)}</title>
<style>${STYLE}</style>
</head>
<body>${HATCH}
<h1>${shown(title)}</h1>
${facts.map((fact) => `<p>${shown(fact)}</p>`).join('\n')}
<dl>${figures.map(([label, value]) => `<div><dt>${shown(label)}</dt><dd>${shown(value)}</dd></div>`).join('')}</dl>
${legend}
${sweepTable(report)}
${resources.map((one) => chartOf(one, report)).join('\n')}
${more}
${firingTable(report)}
</body>
</html>
`
}

function sweepTable({ sweep }: Report): string {
  if (sweep === undefined) return ''
  const most = Math.max(1, ...sweep.rows.map(({ firings }) => firings))
  const rows = sweep.rows.map(({ values, firings, perDay, issue }) => {
    const length = Math.round((1_000 * firings) / most) / 10
    const bar =
      issue === undefined
        ? `<span class="bar" style="width:${length}%"></span>`
        : `<span class="issue">${shown(issue)}</span>`
    const numbers = [...values, grouped(firings), perDay === null ? '-' : perDay.toFixed(2)]
    return `<tr>${numbers.map((text) => `<td class="number">${shown(text)}</td>`).join('')}<td style="width:60%">${bar}</td></tr>`
  })
  const heads = [...sweep.parameters, 'firings', 'per day'].map((name) => `<th class="number">${shown(name)}</th>`)
  return `<h2>Values</h2><table><thead><tr>${heads.join('')}<th></th></tr></thead><tbody>${rows.join('')}</tbody></table>`
}

function firingTable({ firings, moreFirings, names, zone, sweep }: Report): string {
  if (firings.length === 0) return sweep === undefined ? '<h2>Firings</h2><p>Nothing fired.</p>' : ''
  const isDiff = names.old !== undefined
  const rows = firings.map((firing, number) => {
    const { time, resource = '', node, cause, values, why } = firing
    const card = why.length === 0 ? '' : `<span class="card">${why.map(shown).join('\n')}</span>`
    const seen = values === undefined ? '' : ` <span class="tag">${shown(values)}</span>`
    const version = isDiff ? `<td>${tagOf(firing)}</td>` : ''
    return `<tr id="f${number}" tabindex="0"><td class="time">${clockTime(time, zone)}</td>${version}<td>${shown(resource)}</td><td>${shown(node)}</td><td class="why">${shown(cause)}${seen}${card}</td></tr>`
  })
  const heads = ['time', ...(isDiff ? ['version'] : []), 'resource', 'fired', 'because']
  const more = moreFirings === 0 ? '' : `<p>${grouped(moreFirings)} later firings are not listed</p>`
  return `<h2>Firings</h2><table><thead><tr>${heads.map((head) => `<th>${head}</th>`).join('')}</tr></thead><tbody>
${rows.join('\n')}
</tbody></table>${more}`
}

function tagOf({ version, moved }: ReportedFiring): string {
  if (moved !== undefined) return `<span class="tag new">${shown(moved.by)} in new</span>`
  return version === 'both' ? '<span class="tag">both</span>' : `<span class="tag ${version}">only ${version}</span>`
}
