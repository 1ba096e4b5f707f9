export const signOut = (): void => leaveFor('/')

/** Through the sign-in page, back to where one is. */
export const signInAgain = (): void => leaveFor(location.pathname + location.search)

/** The form's way, so that the browser drops the cookie and loads the sign-in page. */
const leaveFor = (next: string): void => {
  const form = document.createElement('form')
  form.method = 'post'
  form.action = `/logout?next=${encodeURIComponent(next)}`
  document.body.append(form)
  form.submit()
}
