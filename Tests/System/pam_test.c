// SPDX-License-Identifier: Apache-2.0

// A PAM module of the system tests. For test_services_account.py it asks for more than one password: `twice` asks without
// echo for a second one, `shown` asks with echo, `many` sends messages without end, and `unknown` uses a style that does
// not exist; `renamed` accepts, and says that the account is alice's. For test_services_face.py, `face` stands for a camera: the file /run/latchkey-face says whose face is seen.

#include <security/pam_modules.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int say(pam_handle_t *handle, int style, const char *text) {
    const struct pam_conv *conversation = NULL;
    if (pam_get_item(handle, PAM_CONV, (const void **)&conversation) != PAM_SUCCESS || !conversation)
        return PAM_CONV_ERR;
    struct pam_message message = { style, text };
    const struct pam_message *messages[1] = { &message };
    struct pam_response *response = NULL;
    int code = conversation->conv(1, messages, &response, conversation->appdata_ptr);
    if (response) {
        free(response->resp);
        free(response);
    }
    return code;
}

// Succeeds if the file names the user, blocks for ever if the file says "hang", and fails otherwise.
static int look(pam_handle_t *handle) {
    const char *user = NULL;
    char seen[64] = "";
    FILE *file = fopen("/run/latchkey-face", "r");
    if (!file) return PAM_AUTHINFO_UNAVAIL;
    int count = fscanf(file, "%63s", seen);
    fclose(file);
    if (pam_get_user(handle, &user, NULL) != PAM_SUCCESS || count != 1) return PAM_SERVICE_ERR;
    say(handle, PAM_TEXT_INFO, "Look at the camera");
    while (strcmp(seen, "hang") == 0) pause();
    return strcmp(seen, user) == 0 ? PAM_SUCCESS : PAM_AUTH_ERR;
}

int pam_sm_authenticate(pam_handle_t *handle, int flags, int count, const char **words) {
    (void)flags;
    const char *word = count == 1 ? words[0] : "";
    int code = PAM_SUCCESS;
    if (strcmp(word, "face") == 0) return look(handle);
    if (strcmp(word, "twice") == 0) code = say(handle, PAM_PROMPT_ECHO_OFF, "Code: ");
    if (strcmp(word, "shown") == 0) code = say(handle, PAM_PROMPT_ECHO_ON, "Your name: ");
    if (strcmp(word, "unknown") == 0) code = say(handle, 4711, "?");
    if (strcmp(word, "renamed") == 0) return pam_set_item(handle, PAM_USER, "alice");
    while (strcmp(word, "many") == 0) say(handle, PAM_TEXT_INFO, "\033[2J\xff\xfe a text");
    return code == PAM_SUCCESS ? PAM_SUCCESS : PAM_AUTH_ERR;
}

int pam_sm_acct_mgmt(pam_handle_t *handle, int flags, int count, const char **words) {
    (void)flags;
    return count == 1 && strcmp(words[0], "renamed") == 0 ? pam_set_item(handle, PAM_USER, "alice") : PAM_SUCCESS;
}

int pam_sm_setcred(pam_handle_t *handle, int flags, int count, const char **words) {
    (void)handle, (void)flags, (void)count, (void)words;
    return PAM_SUCCESS;
}
