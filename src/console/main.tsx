/** Starts the console. */
import { render } from 'preact'
import { API } from './base.ts'
import { startClock } from './connection.ts'
import { startKeys } from './keys.ts'
import { startAlarms } from './open-alarms.ts'
import { startRouter } from './router.ts'
import { startSession } from './session.ts'
import { applyTheme } from './settings.ts'
import { App } from './shell/app.tsx'

applyTheme()
startRouter()
startClock(() => fetch(`${API}/health`))
startKeys()
startAlarms()
void startSession()
const place = document.getElementById('console')
if (place !== null) render(<App />, place)
