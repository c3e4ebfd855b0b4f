/** Data: a query of time series with its time line, as a plot and a table, and its export. */
import { useState } from 'preact/hooks'
import { API } from '../base.ts'
import { useLoad } from '../loading.ts'
import { CopyRequest } from '../parts/copy.tsx'
import { Answer, Heads, Panel, Problem, Scroll, Time } from '../parts/layout.tsx'
import { TextField } from '../parts/text-field.tsx'
import { done } from '../parts/undo.tsx'
import { SeriesPlot } from '../plot/series-plot.tsx'
import { query, setQuery } from '../router.ts'
import { api, errorText, sessionFetch } from '../session.ts'
import { dataAnswer, queryOf, seriesOf } from '../words/data.ts'
import { countText, valueText } from '../words/numbers.ts'

const RANGES = [
  ['-PT1H', 'last hour'],
  ['-PT6H', 'last 6 hours'],
  ['-P1D', 'last day'],
  ['-P7D', 'last week'],
  ['-P30D', 'last 30 days'],
] as const
const BUCKETS = [
  ['', 'none: raw samples'],
  ['PT1M', '1 minute'],
  ['PT5M', '5 minutes'],
  ['PT15M', '15 minutes'],
  ['PT1H', '1 hour'],
  ['P1D', '1 day'],
] as const
const AGGREGATIONS = ['mean', 'median', 'min', 'max', 'sum', 'count', 'first', 'last', 'std', 'percentile(0.9)']
const MOST_ROWS = 200

const parts = (text: string): readonly string[] =>
  text
    .split(',')
    .map((one) => one.trim())
    .filter(Boolean)

interface Rows {
  readonly column_names: readonly string[]
  readonly data: readonly (readonly unknown[])[]
  readonly window_spec?: { readonly from: number; readonly until: number; readonly freq?: string }
}

export function Data() {
  const { value: address } = query
  const field = (name: string, initial: string): string => address.get(name) ?? initial
  const form = {
    resources: parts(field('resource', '')),
    metrics: parts(field('metric', '')),
    aggregation: field('aggregation', 'mean'),
    freq: field('freq', 'PT5M'),
    from: field('from', '-P1D'),
  }
  const known =
    useLoad(
      async () => (form.resources[0] === undefined ? [] : api.broker.series.list(form.resources[0])),
      [form.resources[0]],
    ).data ?? []
  const resources = useLoad(() => api.resources.resources.list({ limit: 200 }), []).data?.values ?? []
  const metrics =
    form.metrics.length > 0
      ? form.metrics
      : known
          .filter(({ value }) => typeof value === 'number')
          .slice(0, 1)
          .map(({ metric }) => metric)
  const body = queryOf({ ...form, metrics })
  const isReady = form.resources.length > 0 && metrics.length > 0
  const {
    data: result,
    error,
    reload,
  } = useLoad(async () => (isReady ? api.queries.execute({ query: body }) : undefined), [JSON.stringify(body), isReady])
  const rows = result?.data[0] as Rows | undefined
  const series = rows === undefined ? [] : seriesOf(rows.column_names, rows.data)
  const line = rows?.window_spec
  const [zoom, setZoom] = useState<
    { readonly key: string; readonly from: number; readonly until: number } | undefined
  >()
  const key = JSON.stringify(body)
  const shown = zoom?.key === key ? zoom : line
  const set = (name: string) => (event: { readonly currentTarget: HTMLSelectElement }) =>
    setQuery({ [name]: event.currentTarget.value })
  return (
    <>
      <Answer
        title={dataAnswer(series, rows?.data.length ?? 0)}
        more={
          line === undefined ? (
            'Choose resources and metrics; several are separated by commas.'
          ) : (
            <>
              From <Time at={line.from} /> until <Time at={line.until} />
              {line.freq === undefined
                ? ', raw samples'
                : `, in buckets of ${BUCKETS.find(([one]) => one === line.freq)?.[1] ?? line.freq}`}
              .
            </>
          )
        }
      >
        {isReady && (
          <>
            <CopyRequest method="POST" path="/data/query" body={body} done={done} />
            <button type="button" onClick={() => void exportCsv(body)}>
              Export CSV
            </button>
          </>
        )}
      </Answer>
      <Problem text={error} retry={reload} />
      <div class="stack">
        <Panel title="Query">
          <div class="pad controls">
            <label>
              Resources
              <TextField
                list="queried"
                value={form.resources.join(', ')}
                placeholder="boiler-1, boiler-2"
                onChange={(resource) => setQuery({ resource })}
              />
              <datalist id="queried">
                {resources.map(({ id }) => (
                  <option key={id} value={id} />
                ))}
              </datalist>
            </label>
            <label>
              Metrics
              <TextField
                list="metrics"
                value={metrics.join(', ')}
                placeholder="temperature"
                onChange={(metric) => setQuery({ metric })}
              />
              <datalist id="metrics">
                {known.map(({ metric }) => (
                  <option key={metric} value={metric} />
                ))}
              </datalist>
            </label>
            <Choice name="Range" value={form.from} options={RANGES} onChange={set('from')} />
            <Choice name="Buckets" value={form.freq} options={BUCKETS} onChange={set('freq')} />
            {form.freq !== '' && (
              <Choice
                name="Aggregation"
                value={form.aggregation}
                options={AGGREGATIONS.map((one) => [one, one] as const)}
                onChange={set('aggregation')}
              />
            )}
          </div>
        </Panel>
        {rows !== undefined && shown !== undefined && (
          <Panel
            title="Plot"
            aside={
              zoom?.key === key ? (
                <button type="button" class="small" onClick={() => setZoom(undefined)}>
                  Whole range
                </button>
              ) : (
                'drag to zoom'
              )
            }
          >
            <div class="pad">
              <SeriesPlot
                label={`${series.map(({ name }) => name).join(', ')} over time; the table has the same values`}
                from={shown.from}
                until={shown.until}
                series={series}
                gaps={series.length === 1 ? (series[0]?.gaps ?? []) : []}
                height={260}
                onZoom={(from, until) => setZoom({ key, from, until })}
              />
            </div>
          </Panel>
        )}
        {rows !== undefined && (
          <Panel
            title="Values"
            aside={
              rows.data.length > MOST_ROWS
                ? `the newest ${MOST_ROWS} of ${rows.data.length.toLocaleString('en')} rows`
                : countText(rows.data.length, 'row')
            }
          >
            <Scroll label="Values">
              <table class="tight">
                <Heads columns={['Time', ...rows.column_names.slice(1).map((name) => [name, 'num'] as const)]} />
                <tbody>
                  {rows.data
                    .slice(-MOST_ROWS)
                    .toReversed()
                    .map((row) => (
                      <tr key={String(row[0])}>
                        <td class="nowrap">
                          {typeof row[0] === 'number' ? <Time at={row[0]} withSeconds /> : valueText(row[0])}
                        </td>
                        {row.slice(1).map((value, index) => (
                          <td class="num" key={index}>
                            {value === null ? <span class="dim">no data</span> : valueText(value)}
                          </td>
                        ))}
                      </tr>
                    ))}
                </tbody>
              </table>
            </Scroll>
          </Panel>
        )}
      </div>
    </>
  )
}

interface ChoiceProps {
  readonly name: string
  readonly value: string
  readonly options: readonly (readonly [string, string])[]
  onChange(event: { readonly currentTarget: HTMLSelectElement }): void
}

function Choice({ name, value, options, onChange }: ChoiceProps) {
  return (
    <label>
      {name}
      <select value={value} onChange={onChange}>
        {options.map(([one, text]) => (
          <option key={one} value={one}>
            {text}
          </option>
        ))}
      </select>
    </label>
  )
}

async function exportCsv(body: object): Promise<void> {
  const headers = { accept: 'text/csv', 'content-type': 'application/json' }
  const answer = await sessionFetch(`${API}/data/query?csv=safe`, {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
  })
  if (!answer.ok) return done(`Not exported: ${await errorText(answer)}`)
  const link = document.createElement('a')
  link.href = URL.createObjectURL(await answer.blob())
  link.download = 'query.csv'
  link.click()
  URL.revokeObjectURL(link.href)
  done('Exported as query.csv')
}
