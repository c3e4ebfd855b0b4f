import { expect, it } from 'vitest'
import { plugPage } from '../../../src/services/functions/plug-page.ts'

it('the page of a plug shows its states, properties and examples', () => {
  const page = plugPage({
    name: 'warm',
    version: '1.2.3',
    status: 'running',
    record: {
      plug: {
        type: 'sensor',
        interface: {
          states: ['Warm', 'Cold'],
          input: [{ name: 'limit', dataType: 'double', mandatory: true, defaultValue: 20 }],
          output: [],
        },
        metadata: {
          friendlyName: 'How warm',
          documentation: {
            description: 'looks how warm it is',
            states: [{ name: 'Warm', description: 'above the limit' }],
            input: [{ name: 'limit', description: 'degrees', examples: [21, 22] }],
            examples: [{ description: 'a mild day', input: { limit: 18 }, state: 'Warm' }],
          },
        },
      },
    },
  })
  const body = page.slice(page.indexOf('<body>'))
  expect(body).toBe(`<body>
<h1>warm 1.2.3</h1>
<p>sensor, running: How warm</p>
<p>looks how warm it is</p>
<h2>States</h2>
<table>
<tr><th>state</th><th>when</th></tr>
<tr><td>Warm</td><td>above the limit</td></tr>
<tr><td>Cold</td><td></td></tr>
</table>
<h2>Input</h2>
<table>
<tr><th>name</th><th>type</th><th>mandatory</th><th>default</th><th>what it is</th><th>examples</th></tr>
<tr><td>limit</td><td>double</td><td>yes</td><td>20</td><td>degrees</td><td>21, 22</td></tr>
</table>
<h2>Examples</h2>
<table>
<tr><th>what</th><th>input</th><th>state</th></tr>
<tr><td>a mild day</td><td>{&quot;limit&quot;:18}</td><td>Warm</td></tr>
</table>
</body>
</html>
`)
})

it('the page of a plug contains tenant input only as text', () => {
  const bad = '<script>alert("1")</script>&'
  const page = plugPage({
    name: 'p',
    version: '1.0.0',
    status: 'running',
    record: {
      plug: {
        interface: { states: [bad], input: [{ name: 'a', defaultValue: bad }] },
        metadata: { description: bad, friendlyName: bad },
      },
    },
  })
  expect(page).not.toContain('<script')
  expect(page.match(/&lt;script&gt;/g)?.length).toBe(4)
})
