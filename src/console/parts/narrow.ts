/** Whether the screen is that of a phone. */
import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'

const PHONE = matchMedia('(max-width: 40rem)')

export function useIsNarrow(): boolean {
  const isNarrow = useSignal(PHONE.matches)
  useEffect(() => {
    const note = (): void => void (isNarrow.value = PHONE.matches)
    PHONE.addEventListener('change', note)
    return () => PHONE.removeEventListener('change', note)
  }, [])
  return isNarrow.value
}
